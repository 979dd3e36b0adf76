/** Shared documents in the database. */
import type { SharedDocument, SharedDocuments } from '../../../../runtime/store/shared-documents.ts';
import type { SnapshotReader } from './snapshot.ts';

const VERSION = 'SELECT version FROM document WHERE name = $1';
const READ = 'SELECT version, body AS text FROM document WHERE name = $1';
const CREATE =
  'INSERT INTO document (name, version, body) VALUES ($1, 1, $2) ON CONFLICT (name) DO NOTHING RETURNING 1';
const REPLACE = 'UPDATE document SET version = version + 1, body = $2 WHERE name = $1 AND version = $3 RETURNING 1';

/** @param reads, writes connections; each query and each change is one transaction */
export function pgDocuments(reads: SnapshotReader, writes: SnapshotReader): SharedDocuments {
  const read = async (sql: string, name: string): Promise<SharedDocument> => {
    const [rows] = await reads.ask<readonly (readonly SharedDocument[])[]>([sql, name]);
    return rows?.[0] ?? { version: 0, text: '' };
  };
  return {
    version: async (name) => (await read(VERSION, name)).version,
    read: (name) => read(READ, name),
    async replace(name, from, text) {
      const [rows] = await writes.ask(from === 0 ? [CREATE, name, text] : [REPLACE, name, text, from]);
      return rows !== undefined && rows.length > 0;
    },
  };
}
