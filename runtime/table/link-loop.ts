/** Links the check for events that a hookwright has caused: their sender, and the marker in their text. */
import { isNumber } from '../../base/exact-number.ts';
import type { AuthorPlan, RoutePlan } from '../../schemas/generated/types.ts';
import { valueAtPath } from '../verify/items.ts';
import type { TableHeadPlan } from './link-context.ts';
import { bounded } from './link-identity.ts';

export interface LinkedLoop {
  /**
   * True if the sender of the event is the account with which the profile of the route posts.
   * @param ownLogin the account of a target without a setting for it; null: unknown
   */
  isOwnSender(scheme: string, payload: unknown, ownLogin: OwnLogin): boolean;
  /** The installations whose markers are in the texts of the event. */
  installationsIn(scheme: string, payload: unknown): ReadonlySet<string>;
  /** Who caused the event, as far as its source says. */
  authorOf(scheme: string, payload: unknown): EventAuthor;
}

export interface EventAuthor {
  /** Null: unknown. */
  readonly name: string | null;
  readonly isPerson: boolean;
}

export const NO_AUTHOR: EventAuthor = { name: null, isPerson: false };

export type OwnLogin = (profile: string, target: string) => string | null;

type Path = readonly string[];

interface OfScheme {
  readonly author: AuthorPlan | null;
  /** Null: all texts. */
  readonly texts: readonly Path[] | null;
  /** `own`: a field, a login, or the target whose login is used. */
  readonly senders: readonly {
    readonly path: Path;
    readonly own: Path | string | { readonly target: string };
  }[];
}

export function linkLoop({ profile, insecure, source }: RoutePlan, { schemes, profiles }: TableHeadPlan): LinkedLoop {
  const linked = new Map<string, OfScheme>();
  const setting = (target: string, name: string): string | null => {
    const { [target]: binding } = (Object.hasOwn(profiles, profile) ? profiles[profile] : undefined)?.targets ?? {};
    const value = binding?.options[name];
    return value === undefined || value === '' ? null : String(value).toLowerCase();
  };
  const ofScheme = (scheme: string): OfScheme => {
    // Without a signature, the route's source decides what the event is.
    const name = insecure ? (source ?? '') : scheme;
    const known = linked.get(name);
    if (known !== undefined) return known;
    const plan = Object.hasOwn(schemes, name) ? schemes[name] : undefined;
    const senders = (plan?.own_sender ?? []).map(({ path, same_as, target, setting: key }) => ({
      path,
      own: same_as ?? setting(target, key) ?? { target },
    }));
    const found = { texts: plan?.texts ?? null, senders, author: plan?.author ?? null };
    linked.set(name, found);
    return found;
  };
  return {
    isOwnSender: (scheme, payload, ownLogin) =>
      ofScheme(scheme).senders.some(({ path, own }) => {
        const sender = valueAtPath(payload, path);
        if (!isName(sender)) return false;
        const other = typeof own === 'object' && 'target' in own ? ownLogin(profile, own.target) : ownIn(payload, own);
        return isName(other) && String(sender).toLowerCase() === String(other).toLowerCase();
      }),
    authorOf(scheme, payload) {
      const { author } = ofScheme(scheme);
      if (author === null) return NO_AUTHOR;
      const { paths, person } = author;
      const name = paths.map((path) => valueAtPath(payload, path)).find(isName);
      return {
        name: name === undefined ? null : bounded(String(name).toLowerCase()),
        isPerson: person !== null && valueAtPath(payload, person.path) === person.is,
      };
    },
    installationsIn(scheme, payload) {
      const { texts } = ofScheme(scheme);
      const found = texts === null ? [payload] : texts.map((path) => valueAtPath(payload, path));
      return markersIn(found.map((value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))));
    },
  };
}

const ownIn = (payload: unknown, own: Path | string): unknown =>
  typeof own === 'string' ? own : valueAtPath(payload, own);

const isName = (value: unknown): boolean => (typeof value === 'string' && value !== '') || isNumber(value);

/**
 * The marker of posts by hookwright: names the installation and the dispatch. Targets put it where people do not see it and
 * where the service returns it (catalog/targets). It is not a secret and proves nothing. Anyone who has read one can copy it
 * into their own text; then only the event of that text is ignored.
 */

/** Start of a marker; a body without it contains none. */
export const MARKER_START = 'hookwright:';

/** An installation's id has 20 hexadecimal digits; 80 random bits cannot be guessed. */
const ID_BYTES = 10;
const MARKER = /hookwright:([0-9a-f]{20}):[0-9a-z]{1,40}/g;

/** @param randomBytes like that of node:crypto */
export const createInstallation = (randomBytes: (size: number) => Buffer): string =>
  randomBytes(ID_BYTES).toString('hex');

export const isInstallation = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{20}$/.test(value);

export const markerOf = (installation: string, dispatch: string): string =>
  `${MARKER_START}${installation}:${dispatch}`;

/** True if the text contains a marker of the same installation as `own`, for a later dispatch: their ids sort by time. */
export function isNewerMarker(text: string, own: string): boolean {
  const start = own.slice(0, own.lastIndexOf(':') + 1);
  return (
    start !== '' &&
    Array.from(text.matchAll(MARKER), ([marker]) => marker).some((marker) => marker.startsWith(start) && marker > own)
  );
}

/** The installations whose markers are in the texts. */
function markersIn(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => Array.from(text.matchAll(MARKER), ([, id = '']) => id)));
}

/** Replaces the installation's id without a store: in explanations and tests of a configuration. */
export const EXAMPLE_INSTALLATION = '0'.repeat(2 * ID_BYTES);
