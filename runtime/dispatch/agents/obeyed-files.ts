/**
 * Finds files that programs execute or obey without being told to: settings of repositories, agents, editors and shells. In a
 * kept work folder, a run could leave them for the next run, or for the operator who opens the folder. docs/agents.md lists them.
 */
import { chmod, readdir } from 'node:fs/promises';
import { extname } from 'node:path';
import { codeOf } from '../../../base/errors.ts';
import NAMES from './obeyed-names.json' with { type: 'json' };

/**
 * In lower case, because some file systems ignore case; `*` and an extension stands for all names. `beside_head`: a folder with a file
 * `HEAD` is a repository of Git.
 */
const { anywhere: ANYWHERE, beside_head: BESIDE_HEAD, in_github: IN_GITHUB } = NAMES;

/** Entries that lead elsewhere if they are a file or link: to a repository or settings under another name. */
const LEADING: ReadonlySet<string> = new Set(['.git', '.github']);

/** In bytes. What has a longer path cannot be opened by it: a program makes such folders step by step, to hide files in them. */
const LONGEST_PATH = process.platform === 'linux' ? 4095 : 1023;

/** The files and folders below the folder, as bytes, because a name need not be UTF-8. */
export async function findObeyed(folder: Buffer): Promise<readonly Buffer[]> {
  const entries = await entriesIn(folder);
  if (entries.some(({ name }) => folder.length + 1 + name.length > LONGEST_PATH)) return [folder];
  const isRepository = entries.some((entry) => entry.name.toLowerCase() === 'head');
  const isGithub = folder.toString('latin1').toLowerCase().endsWith('/.github');
  const names = new Set([...ANYWHERE, ...(isRepository ? BESIDE_HEAD : []), ...(isGithub ? IN_GITHUB : [])]);
  const found: Buffer[] = [];
  for (const entry of entries) {
    const name = entry.name.toLowerCase();
    const path = Buffer.concat([folder, Buffer.from(`/${entry.name}`, 'latin1')]);
    const isNamed = names.has(name) || names.has(`*${extname(name)}`);
    if (isNamed || (LEADING.has(name) && !entry.isDirectory())) found.push(path);
    else if (entry.isDirectory()) found.push(...(await findObeyed(path)));
  }
  return found;
}

/** A program can make a folder unreadable. */
async function entriesIn(folder: Buffer) {
  const read = () => readdir(folder, { withFileTypes: true, encoding: 'latin1' });
  return read().catch(async (error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    await chmod(folder, 0o700);
    return read();
  });
}
