/**
 * Finds files that programs execute or obey without being told to: settings of repositories, agents, editors and shells. In a
 * kept work folder, a run could leave them for the next run, or for the operator who opens the folder. docs/agents.md lists them.
 */
import { chmod, readdir } from 'node:fs/promises';
import { codeOf } from '../../../base/errors.ts';
import NAMES from './obeyed-names.json' with { type: 'json' };

/** In lower case, because some file systems ignore case. `beside_head`: a folder with a file `HEAD` is a repository of Git. */
const { anywhere: ANYWHERE, beside_head: BESIDE_HEAD } = NAMES;

/** The files and folders below the folder, as bytes, because a name need not be UTF-8. */
export async function findObeyed(folder: Buffer): Promise<readonly Buffer[]> {
  const entries = await entriesIn(folder);
  const isRepository = entries.some((entry) => entry.name.toLowerCase() === 'head');
  const names = new Set(isRepository ? [...ANYWHERE, ...BESIDE_HEAD] : ANYWHERE);
  const found: Buffer[] = [];
  for (const entry of entries) {
    const name = entry.name.toLowerCase();
    const path = Buffer.concat([folder, Buffer.from(`/${entry.name}`, 'latin1')]);
    // A file or link `.git` leads to a repository under another name.
    if (names.has(name) || (name === '.git' && !entry.isDirectory())) found.push(path);
    else if (entry.isDirectory()) found.push(...(await findObeyed(path)));
  }
  return found;
}

/** A program can make a folder unreadable, and one that is too deep to be opened. */
async function entriesIn(folder: Buffer) {
  const read = () => readdir(folder, { withFileTypes: true, encoding: 'latin1' });
  return read().catch(async (error: unknown) => {
    if (codeOf(error) === 'ENAMETOOLONG' || codeOf(error) === 'ENOENT') return [];
    await chmod(folder, 0o700);
    return read();
  });
}
