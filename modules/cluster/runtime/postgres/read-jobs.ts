/** Dynamic jobs of a shared database. A row that is invalid does not run, and is named. */
import { decodeOr, isJobRecord } from '../../../../runtime/store/decode.ts';
import type { JobRecord } from '../../../../runtime/store/job-mutations.ts';
import type { RefusedRows } from '../refused-rows.ts';

export interface DatabaseJob {
  readonly id: string;
  readonly profile: string;
  readonly name: string;
  /** JSON of a JobRecord. */
  readonly body: string;
}

/** Null for an invalid row: a field is not what it may be, or the columns do not repeat what is in the body. */
export function readRecord({ id, profile, name, body }: DatabaseJob): JobRecord | null {
  const record = decodeOr<JobRecord | null>(body, isJobRecord, null);
  return record?.id === id && record.profile === profile && record.name === name ? record : null;
}

export function readJobs(rows: readonly DatabaseJob[], refused: RefusedRows): readonly JobRecord[] {
  const invalid = rows.filter((row) => readRecord(row) === null);
  const named = invalid.map(({ name, id }) => `${JSON.stringify(name)} (${id})`).join(', ');
  refused.note(
    'jobs',
    invalid.length === 0
      ? null
      : `invalid jobs in the database do not run: ${named}; replace each: hookwright job create`,
  );
  return rows.flatMap((row) => readRecord(row) ?? []);
}
