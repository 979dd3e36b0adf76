/** What runs are counted by, as the keys of rows hold it and as people read it. */
import { decodeOr, isText, orNull } from './decode.ts';

export interface RunKey {
  readonly profile: string;
  /** Null: the key is a session of several routes. */
  readonly route: string | null;
  /** A session or coalesce key, a session id where `route` is null, or where answers go: a target and its address, each. */
  readonly key: string | readonly (readonly string[])[];
}

export const storedRunKey = ({ profile, route, key }: RunKey): string => JSON.stringify([profile, route, key]);

/** Null: the key of a row is damaged. */
export function readRunKey(stored: string): RunKey | null {
  const [profile, route, key] = decodeOr<readonly [string, string | null, RunKey['key']] | readonly []>(
    stored,
    isStored,
    [],
  );
  return profile === undefined || route === undefined || key === undefined ? null : { profile, route, key };
}

/** `octo/shop#7`, or `github_comment octo/shop 7` for where answers go. */
export const runKeyText = ({ key }: RunKey): string =>
  typeof key === 'string' ? key : key.map((place) => place.join(' ')).join(', ');

/** Whose key it is, with it: `route answers (profile team) octo/shop#7`. */
export function runKeyName(of: RunKey): string {
  const { profile, route } = of;
  const where = profile === 'default' ? '' : ` (profile ${profile})`;
  return `${route === null ? 'session' : `route ${route}`}${where} ${runKeyText(of)}`;
}

function isStored(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [profile, route, key] = value as readonly unknown[];
  return isText(profile) && orNull(isText)(route) && (isText(key) || (Array.isArray(key) && key.every(isPlace)));
}

const isPlace = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
