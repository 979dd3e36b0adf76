/** The valid values in the rows of each table of work and of bookkeeping, and the rows that are checked. */
import { GUARD_KINDS } from '../../../base/names.ts';
import type { ValueCheck } from '../../../runtime/store/decode.ts';
import { decodeOr, isCount, isInstant, isOneOf, isText, orNull } from '../../../runtime/store/decode.ts';
import { FIGURES } from '../../../runtime/store/figures.ts';
import { laneKey, routeLane } from '../../../runtime/store/records.ts';
import type { WorkColumn } from '../../../runtime/store/sqlite/schema.ts';
import { OPEN_STATES } from '../../../runtime/store/states.ts';
import { isAmount, MOST_USED } from '../../../runtime/store/usage.ts';
import { BLOCKED_BY } from '../../../runtime/store/waits.ts';
import { isJobRecord } from '../../../schemas/built/rows/JobRecord.ts';

export type FoundRow = Readonly<Record<string, unknown>>;

const isJson =
  (check: ValueCheck): ValueCheck =>
  (value) =>
    decodeOr(value, check, null) !== null;
/** JSON [profile, name, …]. */
const isNames = isJson((value) => Array.isArray(value) && isText(value[0]) && value.every(orNull(isText)));
export const isName: ValueCheck = (value) => isText(value) && value !== '';
/** In exactly this form: with other blanks, or an empty name, two lanes would be one route. */
export const isLane: ValueCheck = (value) =>
  isText(value) &&
  isJson((key) => {
    const [profile, name] = Array.isArray(key) ? (key as unknown[]) : [];
    return (
      isName(profile) &&
      orNull(isName)(name) &&
      laneKey(profile as string, name as string | null) === routeLane(value as string)
    );
  })(routeLane(value as string));
/** No wait is longer than a year, in ms. */
const YEAR = 366 * 86_400_000;
const DUE = { due_at: isInstant, set_at: isInstant };
const isDue = ({ due_at, set_at }: FoundRow): boolean => Math.abs(Number(due_at) - Number(set_at)) < YEAR;

export interface RowChecks {
  /** Columns that identify a row. */
  readonly keys: readonly string[];
  readonly checks: Readonly<Record<string, ValueCheck>>;
  /** Default: all rows. */
  readonly where?: string;
  /** Columns of other tables, for `isWhole`. */
  readonly joined?: readonly string[];
  readonly isWhole?: (row: FoundRow) => boolean;
}

/** For tables with a million rows, of which hardly any is damaged. */
const WITHIN = (column: string, most: number): string =>
  `typeof(${column}) = 'integer' AND ${column} BETWEEN 0 AND ${most}`;
const INSTANT = (column: string): string => WITHIN(column, 2 ** 43 - 1);
const COUNT = (column: string): string => WITHIN(column, Number.MAX_SAFE_INTEGER);
const JSON_TEXT = (column: string): string =>
  `typeof(${column}) = 'text' AND json_valid(${column}) AND instr(${column}, char(0)) = 0`;

const OPEN =
  "ref IN (SELECT ref FROM work WHERE finished_at IS NULL UNION SELECT ref FROM work WHERE state = 'pending' " +
  'UNION SELECT ref FROM work WHERE holder IS NOT NULL UNION SELECT ref FROM delivery)';

export const ROW_CHECKS = {
  delivery: {
    keys: ['ref', 'n'],
    checks: {
      ref: isCount,
      n: isCount,
      lane: isNames,
      ...DUE,
      holder: orNull(isText),
      blocked_by: isOneOf(null, ...BLOCKED_BY),
      told_at: orNull(isInstant),
    },
    isWhole: isDue,
  },
  work: {
    keys: ['ref'],
    checks: {
      ref: isCount,
      lane: isLane,
      state: isOneOf(...OPEN_STATES),
      ...DUE,
      holder: orNull(isText),
      started_at: orNull(isInstant),
      answered_at: orNull(isInstant),
      finished_at: isOneOf(null),
      reason: orNull(isJson(isText)),
      failed: isCount,
      steps: isCount,
      session: orNull(isNames),
      turn: orNull(isCount),
      blocked_by: isOneOf(null, ...BLOCKED_BY),
    } satisfies Readonly<Record<WorkColumn | 'finished_at', ValueCheck>>,
    where: OPEN,
    joined: [
      '(SELECT profile FROM dispatch d WHERE d.ref = t.ref) AS own_profile',
      '(SELECT route FROM dispatch d WHERE d.ref = t.ref) AS own_route',
      'EXISTS (SELECT 1 FROM delivery x WHERE x.ref = t.ref) AS has_deliveries',
    ],
    isWhole: (row) =>
      isDue(row) &&
      (row.blocked_by === null || row.session !== null) &&
      routeLane(row.lane as string) === laneKey(row.own_profile as string, row.own_route as string | null) &&
      (row.has_deliveries === 1 ? row.state === 'delivering' : row.state !== 'delivering' || row.holder !== null),
  },
  // The columns by which indexes find a dispatch. The texts follow them in a row and are checked when they are read; a
  // scan would read all of them.
  dispatch: {
    keys: ['ref'],
    checks: { session: orNull(isNames), burst: orNull(isCount) },
    where:
      `ref IN (SELECT ref FROM dispatch INDEXED BY dispatch_session WHERE session IS NOT NULL AND NOT (${JSON_TEXT('session')}) ` +
      `UNION ALL SELECT ref FROM dispatch INDEXED BY dispatch_burst WHERE burst IS NOT NULL AND NOT (${COUNT('burst')}))`,
  },
  coalesce_group: {
    keys: ['key'],
    checks: { key: isNames, ref: isCount, first_at: isInstant, due_at: isInstant, superseded: isCount },
  },
  guard_state: {
    keys: ['id'],
    checks: {
      id: isNames,
      kind: isOneOf(...GUARD_KINDS),
      key: isJson(isText),
      expires_at: orNull(isInstant),
      body: isJson(() => true),
    },
  },
  message: { keys: ['key'], checks: { key: isNames, ref: isCount, ttl_ms: isCount } },
  job: {
    keys: ['id'],
    checks: { id: isName, profile: isName, name: isName, body: isJson(isJobRecord) },
    isWhole: (row) => {
      const { id, profile, name } = decodeOr<FoundRow>(row.body, isJobRecord, {});
      return id === row.id && profile === row.profile && name === row.name;
    },
  },
  job_state: {
    keys: ['job'],
    checks: {
      job: isName,
      paused: orNull(isOneOf(0, 1)),
      paused_until: orNull(isInstant),
      cursor: orNull(isInstant),
      signature: orNull(isText),
      ref: orNull(isCount),
    },
  },
  job_tick: {
    keys: ['job', 'due_at'],
    checks: {
      job: isName,
      due_at: isInstant,
      outcome: isOneOf('fired', 'missed', 'overlapped', 'budget'),
      ref: orNull(isCount),
      missed: isCount,
    },
    where:
      `NOT (typeof(job) = 'text' AND ${INSTANT('due_at')} AND outcome IN ('fired', 'missed', 'overlapped', 'budget') ` +
      "AND typeof(missed) = 'integer' AND missed >= 0 AND (ref IS NULL OR typeof(ref) = 'integer'))",
  },
  figure: {
    keys: ['minute'],
    checks: { minute: isInstant, ...Object.fromEntries(FIGURES.map((name) => [name, isCount])) },
    where: `NOT (${[INSTANT('minute'), ...FIGURES.map(COUNT)].join(' AND ')})`,
  },
  usage: {
    keys: ['id'],
    checks: {
      id: isCount,
      ref: isCount,
      at: isInstant,
      agent: orNull(isText),
      input_tokens: orNull(isCount),
      output_tokens: orNull(isCount),
      cost: orNull(isAmount),
    },
    where:
      `NOT (ref >= 0 AND ${INSTANT('at')} AND max(coalesce(input_tokens, 0), coalesce(output_tokens, 0), ` +
      `coalesce(cost, 0)) <= ${MOST_USED} AND min(coalesce(input_tokens, 0), coalesce(output_tokens, 0), coalesce(cost, 0)) >= 0)`,
  },
  claim: {
    keys: ['key'],
    checks: { key: isNames, expires_at: isInstant },
    where: `NOT (${INSTANT('expires_at')} AND ${JSON_TEXT('key')})`,
  },
} as const satisfies Readonly<Record<string, RowChecks>>;
export type TableName = keyof typeof ROW_CHECKS;
