/**
 * Finds files that programs execute or obey without being told to: settings of repositories, agents, editors and shells. In a
 * kept work folder, a run could leave them for the next run, or for the operator who opens the folder. docs/agents.md lists them.
 */
import { access, chmod, constants, readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { codeOf } from '../../../base/errors.ts';
import NAMES from './obeyed-names.json' with { type: 'json' };

/** As `folded` makes them. `beside_head`: a folder with a file `HEAD` is a repository of Git. */
const { anywhere: ANYWHERE, beside_head: BESIDE_HEAD, in_github: IN_GITHUB } = NAMES;

/** Longest path in bytes; below longer ones, some systems could not find files. */
const LONGEST = 900;

/** The files and folders below the folder, as bytes, because a name need not be UTF-8. */
export async function findObeyed(folder: Buffer): Promise<readonly Buffer[]> {
  const entries = await entriesIn(folder);
  const isRepository = entries.some(({ name }) => folded(name) === 'head');
  const isGithub = folded(basename(folder.toString('latin1'))) === '.github';
  const names = new Set([...ANYWHERE, ...(isRepository ? BESIDE_HEAD : []), ...(isGithub ? IN_GITHUB : [])]);
  const found: Buffer[] = [];
  for (const entry of entries) {
    const name = folded(entry.name);
    const path = Buffer.concat([folder, Buffer.from(`/${entry.name}`, 'latin1')]);
    // A file or link `.git` leads to a repository under another name.
    const isLink = name === '.git' && !entry.isDirectory();
    if (names.has(name) || isLink || path.length > LONGEST) found.push(path);
    else if (entry.isDirectory()) found.push(...(await findObeyed(path)));
  }
  return found;
}

/** Some file systems ignore case, in any script, and characters that cannot be seen. */
const folded = (name: string): string =>
  Buffer.from(name, 'latin1')
    .toString()
    .normalize('NFKC')
    .replace(/\p{DI}/gu, '')
    .toLowerCase();

/** A program can take away its own access to a folder, so that nothing could be found or removed there. */
async function entriesIn(folder: Buffer) {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => chmod(folder, 0o700));
    return await readdir(folder, { withFileTypes: true, encoding: 'latin1' });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
