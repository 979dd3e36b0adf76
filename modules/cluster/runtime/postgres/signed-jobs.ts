/**
 * Dynamic jobs of a shared database. One signed document lists the digest of each job, so that none can be altered, added,
 * brought back or left out by others than those who have the key. Where no key is set, what is stored is believed.
 */
import { createHash } from 'node:crypto';
import { decodeOr, isJobRecord } from '../../../../runtime/store/decode.ts';
import type { JobRecord } from '../../../../runtime/store/job-mutations.ts';
import type { Signatures } from '../signatures.ts';
import { DocumentRefused } from '../signatures.ts';
import type { PgConnection } from './driver.ts';

const NAME = 'jobs';
const PLACE = { kind: 'jobs', name: NAME } as const;

/** The document, for a query. */
export const READ_DIGESTS = `SELECT body FROM document WHERE name = '${NAME}'`;
const PUT_DIGESTS =
  'INSERT INTO document (name, version, body) VALUES ($1, 1, $2) ' +
  'ON CONFLICT (name) DO UPDATE SET version = document.version + 1, body = excluded.body';

/** SHA-256 of the body of each job, by its id. */
export type Digests = Readonly<Record<string, string>>;

export interface DatabaseJob {
  readonly id: string;
  readonly name: string;
  /** JSON of a JobRecord. */
  readonly body: string;
}

export const jobDigest = (body: string): string => createHash('sha256').update(body).digest('hex');

export const isListed = (digests: Digests, { id, body }: DatabaseJob): boolean =>
  Object.hasOwn(digests, id) && digests[id] === jobDigest(body);

/** Returns a function that returns the jobs of the rows that are signed, and in place of an altered row the job before. */
export function createJobReader(
  signatures: Signatures,
): (rows: readonly DatabaseJob[], stored: string | undefined) => readonly JobRecord[] {
  let known: readonly DatabaseJob[] = [];
  return (rows, stored) => {
    if (!signatures.checks('jobs')) return rows.flatMap(recordOf);
    try {
      if (stored === undefined && known.length > 0) throw new DocumentRefused('the jobs in the database: removed');
      const digests = openDigests(signatures, stored);
      const listed = rows.filter((row) => isListed(digests, row));
      const ids = new Set(listed.map(({ id }) => id));
      known = [...listed, ...known.filter((row) => !ids.has(row.id) && isListed(digests, row))];
      signatures.note('job', problemOf(digests, rows, ids));
    } catch (error) {
      if (!(error instanceof DocumentRefused)) throw error;
      signatures.note('jobs', error.message);
    }
    return known.flatMap(recordOf);
  };
}

function problemOf(digests: Digests, rows: readonly DatabaseJob[], listed: ReadonlySet<string>): string | null {
  const odd = rows.filter(({ id }) => !listed.has(id)).map(({ name, id }) => `"${name}" (${id})`);
  const gone = Object.keys(digests).filter((id) => !rows.some((row) => row.id === id));
  if (odd.length + gone.length === 0) return null;
  const which = [...odd, ...gone.map((id) => `${id} (removed)`)].join(', ');
  return `jobs in the database: not signed with gateway.store.key, or altered: ${which}; make them again: hookwright job create`;
}

const recordOf = ({ body }: DatabaseJob): JobRecord | readonly [] =>
  decodeOr<JobRecord | readonly []>(body, isJobRecord, []);

const openDigests = (signatures: Signatures, stored: string | undefined): Digests =>
  stored === undefined ? {} : (JSON.parse(signatures.open(PLACE, stored)) as Digests);

/**
 * The digests, in a transaction that changes a job; none when the document is refused: what it listed stays refused then.
 * Null: no key is set. @throws DocumentRefused when no key is set here, and others sign
 */
export async function readDigests(db: PgConnection, signatures: Signatures): Promise<Digests | null> {
  const [row] = await db.query<{ body: string }>(`${READ_DIGESTS} FOR UPDATE`);
  try {
    const digests = openDigests(signatures, row?.body);
    if (signatures.checks('jobs')) return digests;
  } catch (error) {
    if (error instanceof DocumentRefused) return {};
    throw error;
  }
  signatures.sign(PLACE, '');
  return null;
}

export const putDigests = (db: PgConnection, signatures: Signatures, digests: Digests): Promise<number> =>
  db.change(PUT_DIGESTS, [NAME, signatures.sign(PLACE, JSON.stringify(digests))]);
