/** What outlives a request and is no work, in the database. */
import type { SharedState } from '../store.ts';
import { pgDocuments } from './pg-documents.ts';
import { pgSessions } from './pg-sessions.ts';
import { pgTables } from './pg-tables.ts';
import type { SnapshotReader } from './snapshot.ts';

/** @param reads, writes connections: a question and a change are a transaction each */
export const pgState = (reads: SnapshotReader, writes: SnapshotReader): SharedState => ({
  sessions: pgSessions(reads, writes),
  documents: pgDocuments(reads, writes),
  tables: pgTables(reads, writes),
});
