/** The tables on PostgreSQL, which `migrations.yaml` creates and changes, and the columns that a unit of work uses. */
import { FIGURES } from '../../../../runtime/store/figures.ts';
import { RENAME_LANES } from '../../../../runtime/store/records.ts';
import type { DeliveryRow, DispatchRow, WorkRow } from '../../../../runtime/store/unit/rows.ts';
import { COLUMNS, STEPS as WRITTEN } from './built/migrations.ts';

/** The version that this program reads and writes. */
export const SCHEMA_VERSION = WRITTEN.length;

/** The columns of the rows that a unit of work reads and writes; `migrations.yaml` lists them, and a step of it adds each new one. */
type Columns<Names extends string> = Readonly<Record<Names, 'bigint' | 'integer' | 'text'>>;

export const DISPATCH: Columns<keyof DispatchRow> = COLUMNS.dispatch;
export const WORK: Columns<keyof WorkRow> = COLUMNS.work;
export const DELIVERY: Columns<keyof DeliveryRow> = COLUMNS.delivery;

/** Each step migrates the tables from the previous version to its own. */
export const STEPS: readonly string[] = WRITTEN.map((step) =>
  step
    .replace('FIGURE_COLUMNS', FIGURES.map((name) => `${name} bigint NOT NULL`).join(', '))
    .replace('RENAMED_LANES', () => RENAME_LANES),
);
