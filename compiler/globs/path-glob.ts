/** Matches the path globs of `include` and `--config` in linear time: a config may be untrusted. */
import type { ScannedGlob } from './linear-glob.ts';
import { globSource, linkGlob, scanGlob, wildcardError } from './linear-glob.ts';

export const isGlob = (pattern: string): boolean => scanGlob(pattern).isGlob;

export interface PathGlob extends ScannedGlob {
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
