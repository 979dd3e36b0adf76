/**
 * Decodes stored values, and reports damaged ones: a disk error or a manual change of the database may have altered
 * them. The checks of JSON values are generated from schemas/store.yaml (schemas/built/rows). The checks of single
 * columns are here.
 */
/** A stored value is damaged. The message names the value. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
}

export type ValueCheck = (value: unknown) => boolean;
type Checks<T> = Readonly<Record<keyof T, ValueCheck>>;

/** The year 2248, in Unix ms. */
const LATEST = 2 ** 43;

export const isCount: ValueCheck = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
/** Unix ms. */
export const isInstant: ValueCheck = (value) => isCount(value) && Number(value) < LATEST;
export const isText: ValueCheck = (value) => typeof value === 'string';
export const orNull =
  (check: ValueCheck): ValueCheck =>
  (value) =>
    value === null || check(value);
export const isOneOf =
  (...values: readonly unknown[]): ValueCheck =>
  (value) =>
    values.includes(value);
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Returns a check of all fields. */
export const fieldsOf =
  <T>(checks: Checks<T>): ValueCheck =>
  (value) =>
    isRecord(value) && (Object.keys(checks) as (keyof T & string)[]).every((name) => checks[name](value[name]));

/** Parses a stored text. @param what names the value in the message @throws StoreDamaged */
export function decode<T>(json: unknown, check: ValueCheck, what: string): T {
  const value = decodeOr<T | undefined>(json, check, undefined);
  if (value === undefined) throw new StoreDamaged(`${what} is damaged`);
  return value;
}

/** Parses a stored text; returns `instead` if it is damaged. */
export function decodeOr<T>(json: unknown, check: ValueCheck, instead: T): T {
  try {
    const value: unknown = JSON.parse(json as string);
    return check(value) ? (value as T) : instead;
  } catch {
    return instead;
  }
}
