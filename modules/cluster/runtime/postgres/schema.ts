/** The tables on PostgreSQL, which `migrations.yaml` creates and changes, and the columns that a unit of work uses. */
import { FIGURES } from '../../../../runtime/store/figures.ts';
import { RENAME_LANES } from '../../../../runtime/store/records.ts';
import type { DeliveryRow, DispatchRow, WorkRow } from '../../../../runtime/store/unit/rows.ts';
import { STEPS as WRITTEN } from './built/migrations.ts';

/** The version that this program reads and writes. */
export const SCHEMA_VERSION = WRITTEN.length;

/** The columns of the rows that a unit of work reads and writes; a step of `migrations.yaml` adds each new one. */
type Columns<Names extends string> = Readonly<Record<Names, 'bigint' | 'integer' | 'text'>>;

export const DISPATCH: Columns<keyof DispatchRow> = {
  ref: 'bigint',
  id: 'text',
  profile: 'text',
  route: 'text',
  job: 'text',
  mode: 'text',
  accepted_at: 'bigint',
  max_concurrent: 'integer',
  head: 'text',
  targets: 'text',
  session: 'text',
  burst: 'bigint',
  body: 'text',
};
export const WORK: Columns<keyof WorkRow> = {
  ref: 'bigint',
  lane: 'text',
  state: 'text',
  due_at: 'bigint',
  set_at: 'bigint',
  holder: 'text',
  started_at: 'bigint',
  answered_at: 'bigint',
  reason: 'text',
  failed: 'integer',
  steps: 'integer',
  group_key: 'text',
  first_at: 'bigint',
  superseded: 'integer',
  session: 'text',
  turn: 'bigint',
  blocked_by: 'text',
};
export const DELIVERY: Columns<keyof DeliveryRow> = {
  ref: 'bigint',
  n: 'integer',
  lane: 'text',
  due_at: 'bigint',
  set_at: 'bigint',
  holder: 'text',
  blocked_by: 'text',
  told_at: 'bigint',
};

/** Each step migrates the tables from the previous version to its own. */
export const STEPS: readonly string[] = WRITTEN.map((step) =>
  step
    .replace('FIGURE_COLUMNS', FIGURES.map((name) => `${name} bigint NOT NULL`).join(', '))
    .replace('RENAMED_LANES', () => RENAME_LANES),
);
