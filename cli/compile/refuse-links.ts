/** Keeps what a command writes in its folder, whatever links a stranger's repository brings. */
import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { escapeInvisible } from '../../base/text.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { isBelow } from '../../compiler/source/files.ts';
import { CliError } from '../base/errors.ts';

/**
 * Before a command writes files that the command line does not name: in a stranger's repository each of them, or a folder above
 * it, may be a link to any other. @param folders where it may write, absolute @throws CliError
 */
export function refuseLinks(paths: readonly string[], folders: readonly string[], ...hints: readonly string[]): void {
  const roots = folders.flatMap((folder) => realTarget(folder) ?? []);
  for (const path of paths) {
    const folder = realTarget(dirname(path));
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new CliError(`${escapeInvisible(path)} is a link: nothing was written`, 'remove the link', ...hints);
    if (folder !== dirname(path) && (folder === null || !isBelow(folder, roots)))
      throw new CliError(
        `${escapeInvisible(dirname(path))} leads to another folder through a link: nothing was written`,
        ...hints,
      );
  }
}

/** The real path that a path will have; null if it is below a link to nothing. */
function realTarget(path: string): string | null {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return nodeFiles.realpath(path);
  const folder = realTarget(dirname(path));
  return folder === null ? null : join(folder, basename(path));
}
