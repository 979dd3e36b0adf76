/** What outlives a request and is no work, in the database. */
import type { SharedState } from '../store.ts';
import { pgDocuments } from './pg-documents.ts';
import { pgRequests } from './pg-requests.ts';
import { pgSessions } from './pg-sessions.ts';
import type { SnapshotReader } from './snapshot.ts';

/** @param reads, writes connections: a question and a change are a transaction each @param requests see `pgRequests` */
export const pgState = (reads: SnapshotReader, writes: SnapshotReader, requests: SnapshotReader): SharedState => ({
  sessions: pgSessions(reads, writes),
  documents: pgDocuments(reads, writes),
  requests: pgRequests(requests),
});
