/** Shared state that is not work, in the database. */
import type { SharedState } from '../../../../runtime/store/store.ts';
import { pgDocuments } from './pg-documents.ts';
import { pgRequests } from './pg-requests.ts';
import { pgSessions } from './pg-sessions.ts';
import { pgTables } from './pg-tables.ts';
import type { SnapshotReader } from './snapshot.ts';

/** @param reads, writes connections; each query and each change is one transaction @param requests see `pgRequests` */
export const pgState = (reads: SnapshotReader, writes: SnapshotReader, requests: SnapshotReader): SharedState => ({
  sessions: pgSessions(reads, writes),
  documents: pgDocuments(reads, writes),
  tables: pgTables(reads, writes),
  requests: pgRequests(requests),
});
