/** Globs and expressions that match in linear time, because senders choose the text and a config may be untrusted. */
import picomatch from 'picomatch';
import { RE2JS } from 're2js';

/*
 * Translates a glob to a regular expression for RE2, which matches in linear time: event types come from senders, and globs
 * from configs and subscriptions that others wrote. No other file imports picomatch, and its expressions are never run directly.
 *
 * picomatch defines the meaning of a glob, but its expressions use look-ahead, which RE2 lacks: a `*` at the start of the
 * text or after a `/` must match neither a leading dot nor the empty string. What follows such a star decides how to express
 * this without look-ahead. A glob that cannot be expressed is rejected; its meaning is never changed.
 */

/** Maximum length of a glob, in UTF-16 code units. */
const MAX_LENGTH = 256;

/** Maximum number of wildcards. Each makes the expression larger and matching slower; typical globs have three or four. */
const MAX_WILDCARDS = 16;

interface ScannedGlob {
  readonly isGlob: boolean;
  /** The folder before the first wildcard. */
  readonly base: string;
  /** The rest of the pattern. */
  readonly glob: string;
}

/** Splits a path glob into a fixed folder and a pattern. */
function scanGlob(pattern: string): ScannedGlob {
  const { isGlob, base, glob } = picomatch.scan(pattern);
  return { isGlob, base, glob };
}

/** Returns the source of an RE2 expression, or an error that describes the problem with the glob. */
export function globSource(glob: string): string | Error {
  const many = wildcardError(glob);
  if (many !== null) return many;
  // A backslash before a letter means different things in a glob and in a regular expression.
  if (/\\[A-Za-z0-9]/.test(glob)) return new Error('has a backslash before a letter or a digit');
  try {
    const regex = picomatch.makeRe(glob, { strictBrackets: true, maxLength: MAX_LENGTH });
    if (!regex) return new Error('is empty');
    return compiles(withoutLookahead(regex.source)) ?? new Error(NOT_LINEAR);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** @param source an expression from `globSource` */
export function linkGlob(source: string): (text: string) => boolean {
  const regex = linearRegex(source);
  return (text) => regex.test(text);
}

/** Returns an error if the glob has too many wildcards, else null. */
function wildcardError(glob: string): Error | null {
  const count = glob.match(/[*?[({]/g)?.length ?? 0;
  return count <= MAX_WILDCARDS ? null : new Error(`has ${count} wildcards; the maximum is ${MAX_WILDCARDS}`);
}

const NOT_LINEAR = 'cannot be matched in linear time: write it with single stars and without `!`, or name the events';

function compiles(source: string | null): string | null {
  if (source === null) return null;
  try {
    linearRegex(source);
    return source;
  } catch {
    return null;
  }
}

/** picomatch's forms of a star that must not match a leading dot, the empty string at the end of the text, or either. */
const GUARDED_STAR =
  /(\(\?!\\\.\)\(\?=\.\)|\(\?=\.\)(?:\(\?!\\\.\))?|\(\?!\\\.\)(?=\[\^\/\]\*\?\\\/\(\?=))\[\^\/\]\*\?/;
const STAR = '[^/]*?';
const NO_DOT = '[^/.\\n\\r\\x{2028}\\x{2029}]';
const ANY = '[^/\\n\\r\\x{2028}\\x{2029}]';

/** Rewrites the stars from first to last. Returns null for an unknown construct. */
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
  /** The number of characters after the star that `source` replaces. */
  readonly taken: number;
}

/** @param first character class for the first character that the star may match */
function rewriteStar(after: string, first: string): Rewritten | null {
  const some = `${first}${STAR}`;
  // At the end of the text an optional slash follows, so an empty star is allowed if the slash is present.
  if (after === '\\/?)$') return { source: `(?:${some}\\/?|\\/)`, taken: '\\/?'.length };
  if (/^\)+\$$/.test(after)) return { source: some, taken: 0 };
  // `*?`: at least one character, the first of which is allowed.
  const anyone = /^\[\^\/\](?![*+?])/.exec(after);
  if (anyone !== null) return { source: some, taken: anyone[0].length };
  const next = firstOf(after);
  if (next === 'dot') return { source: first === NO_DOT ? some : `(?:${some})?`, taken: 0 };
  return next === 'other' ? { source: `(?:${some})?`, taken: 0 } : null;
}

/** The start of an expression: a dot, a single character or class that excludes the dot, or something else (null). */
function firstOf(expression: string): 'dot' | 'other' | null {
  const group = /^\(([^()]+)\)(?![*+?{])/.exec(expression)?.[1];
  if (group !== undefined) {
    const kinds = new Set(group.split('|').map(firstOf));
    return kinds.size === 1 ? ([...kinds][0] ?? null) : null;
  }
  const [atom = ''] =
    /^(?:\[\^?(?:\\.|[^\]\\])+\]|\\[^A-Za-z0-9]|[\w:@ ,;#%&<>~"'`=-])(?![*+?{])/.exec(expression) ?? [];
  if (atom === '\\.') return 'dot';
  // A single character, so testing it is fast.
  return atom !== '' && !['.', '\n', '\r', '\u2028', '\u2029'].some((text) => new RegExp(`^${atom}$`).test(text))
    ? 'other'
    : null;
}

/** Matches the path globs of `include` and `--config` in linear time: a config may be untrusted. */
export const isGlob = (pattern: string): boolean => scanGlob(pattern).isGlob;

interface PathGlob extends ScannedGlob {
  /** @param path relative to `base` */
  readonly matches: (path: string) => boolean;
}

/** Returns the positions (indexes into the parts of a path) at which a match of this piece can end. */
type Piece = (parts: readonly string[], start: number) => readonly number[];

/** Like event globs, but `**` matches any number of folders without a leading dot. Returns an error for an invalid glob. */
export function pathGlob(pattern: string): PathGlob | Error {
  const scanned = scanGlob(pattern);
  const { glob } = scanned;
  const many = wildcardError(glob);
  if (many !== null) return many;
  const texts = piecesOf(glob);
  const pieces: Piece[] = [];
  for (const [at, text] of texts.entries()) {
    const piece = text === '**' ? anyFolders(at === texts.length - 1 ? 1 : 0) : folders(text);
    if (piece instanceof Error) return piece;
    pieces.push(piece);
  }
  return { ...scanned, matches: (path) => path === glob || passes(pieces, path.split('/')) };
}

/** Splits a glob into its `**` parts and the patterns between them; `**.yaml` counts as `**` and `*.yaml`. */
const piecesOf = (glob: string): readonly string[] =>
  glob
    .replace(/(^|\/)\*\*(?=[^*/])/g, '$1**/*')
    .split(/(?:^|(?<=\/)|\/)(\*\*)(?:\/|$)/)
    .filter(Boolean);

/** @param least minimum number of parts that it matches: 1 at the end of a glob, for the file */
const anyFolders =
  (least: number): Piece =>
  (parts, start) => {
    const length = parts.slice(start).findIndex((part) => part.startsWith('.'));
    const end = length === -1 ? parts.length : start + length;
    return Array.from({ length: end - start + 1 }, (_, count) => start + count).slice(least);
  };

function folders(glob: string): Piece | Error {
  const source = globSource(glob);
  if (source instanceof Error) return source;
  const matches = linkGlob(source);
  return (parts, start) => {
    const ends = parts.slice(start).map((_, index) => start + index + 1);
    return ends.filter((end) => matches(parts.slice(start, end).join('/')));
  };
}

/** Tracks the set of reachable positions, so that no split of the path is tried twice. */
function passes(pieces: readonly Piece[], parts: readonly string[]): boolean {
  let reached: readonly number[] = [0];
  for (const piece of pieces) reached = [...new Set(reached.flatMap((start) => piece(parts, start)))];
  return reached.includes(parts.length);
}

/** Larger than the number of expressions that a configuration of usual size has. */
const CACHE_SIZE = 1000;

const cache = new Map<string, RE2JS>();

/** @throws RE2JSSyntaxException if RE2 does not support the expression */
export function linearRegex(source: string): RE2JS {
  const known = cache.get(source);
  if (known !== undefined) return known;
  const regex = RE2JS.compile(source);
  if (cache.size === CACHE_SIZE) cache.clear();
  cache.set(source, regex);
  return regex;
}
