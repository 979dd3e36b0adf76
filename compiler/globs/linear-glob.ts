/**
 * Turns a glob into an expression that the linear engine takes: event types come from the sender, and globs from configs
 * and subscriptions that others wrote. Nothing else imports picomatch, and nothing runs its expression as it is.
 *
 * picomatch says what a glob means. Its expression has look-ahead, which RE2 has not: `*` at the start of the text or
 * behind a `/` matches no leading dot, and not nothing. What stands behind such a star decides how the same is said
 * without looking ahead. A glob of which it cannot be said is refused; none changes its meaning.
 */
import picomatch from 'picomatch';
import { RE2JS } from 're2js';

/** Longest glob, in UTF-16 units. */
const MAX_LENGTH = 256;

/** Each makes the expression larger, and every match of it slower; people write three or four. */
const MAX_WILDCARDS = 16;

export interface ScannedGlob {
  readonly isGlob: boolean;
  /** The folder in front of the first wildcard. */
  readonly base: string;
  /** What stands behind it. */
  readonly glob: string;
}

/** Divides a glob of paths. */
export function scanGlob(pattern: string): ScannedGlob {
  const { isGlob, base, glob } = picomatch.scan(pattern);
  return { isGlob, base, glob };
}

/** The source of an RE2 expression, or what is wrong with the glob. */
export function globSource(glob: string): string | Error {
  const many = tooMany(glob);
  if (many !== null) return many;
  // A letter behind a backslash means one thing in a glob and another in an expression.
  if (/\\[A-Za-z0-9]/.test(glob)) return new Error('has a backslash before a letter or a digit');
  try {
    const regex = picomatch.makeRe(glob, { strictBrackets: true, maxLength: MAX_LENGTH });
    if (!regex) return new Error('is empty');
    return compiles(withoutLookahead(regex.source)) ?? new Error(NOT_LINEAR);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** @param source of `globSource` */
export function linkGlob(source: string): (text: string) => boolean {
  const regex = RE2JS.compile(source);
  return (text) => regex.test(text);
}

/** What is wrong with a glob of this many wildcards; null: nothing. */
export function tooMany(glob: string): Error | null {
  const count = glob.match(/[*?[({]/g)?.length ?? 0;
  return count <= MAX_WILDCARDS ? null : new Error(`has ${count} wildcards; ${MAX_WILDCARDS} are the most`);
}

const NOT_LINEAR = 'cannot be matched in linear time: write it with single stars and without `!`, or name the events';

function compiles(source: string | null): string | null {
  if (source === null) return null;
  try {
    RE2JS.compile(source);
    return source;
  } catch {
    return null;
  }
}

/** A star that must not begin with a dot, or not stand for nothing where the text ends, or both: as picomatch writes them. */
const GUARDED_STAR =
  /(\(\?!\\\.\)\(\?=\.\)|\(\?=\.\)(?:\(\?!\\\.\))?|\(\?!\\\.\)(?=\[\^\/\]\*\?\\\/\(\?=))\[\^\/\]\*\?/;
const STAR = '[^/]*?';
const NO_DOT = '[^/.\\n\\r\\x{2028}\\x{2029}]';
const ANY = '[^/\\n\\r\\x{2028}\\x{2029}]';

/** From the first star to the last; null for what is not understood. */
function withoutLookahead(source: string): string | null {
  const match = GUARDED_STAR.exec(source);
  if (match === null) return source.includes('(?=') || source.includes('(?!') ? null : source;
  const [guard, looks = ''] = match;
  const before = source.slice(0, match.index);
  const after = source.slice(match.index + guard.length);
  const star = rewriteStar(after, looks.includes('(?!') ? NO_DOT : ANY);
  if (star === null) return null;
  const rest = withoutLookahead(after.slice(star.taken));
  return rest === null ? null : before + star.source + rest;
}

interface Rewritten {
  readonly source: string;
  /** How much of what stands behind the star the source replaces. */
  readonly taken: number;
}

/** @param first the class of the characters that a star may begin with. */
function rewriteStar(after: string, first: string): Rewritten | null {
  const some = `${first}${STAR}`;
  // The end of the text: a slash that may follow keeps an empty star from being nothing.
  if (after === '\\/?)$') return { source: `(?:${some}\\/?|\\/)`, taken: '\\/?'.length };
  if (/^\)+\$$/.test(after)) return { source: some, taken: 0 };
  // `*?`: some characters, of which the first is none of the forbidden.
  const anyone = /^\[\^\/\](?![*+?])/.exec(after);
  if (anyone !== null) return { source: some, taken: anyone[0].length };
  const next = firstOf(after);
  if (next === 'dot') return { source: first === NO_DOT ? some : `(?:${some})?`, taken: 0 };
  return next === 'other' ? { source: `(?:${some})?`, taken: 0 } : null;
}

/** What an expression begins with: a dot, one other character or class without the dot, or something else. */
function firstOf(expression: string): 'dot' | 'other' | null {
  const group = /^\(([^()]+)\)(?![*+?{])/.exec(expression)?.[1];
  if (group !== undefined) {
    const kinds = new Set(group.split('|').map(firstOf));
    return kinds.size === 1 ? ([...kinds][0] ?? null) : null;
  }
  const [atom = ''] =
    /^(?:\[\^?(?:\\.|[^\]\\])+\]|\\[^A-Za-z0-9]|[\w:@ ,;#%&<>~"'`=-])(?![*+?{])/.exec(expression) ?? [];
  if (atom === '\\.') return 'dot';
  // One character, so a test of it is quick.
  return atom !== '' && !['.', '\n', '\r', '\u2028', '\u2029'].some((text) => new RegExp(`^${atom}$`).test(text))
    ? 'other'
    : null;
}
