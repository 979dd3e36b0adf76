/**
 * The input of a program as a file that is complete before the program starts. Through a pipe, a program whose parent is
 * killed reads a part of its input, followed by the end of the file, and cannot know that the rest is missing.
 */
import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../../base/code-of.ts';

/** Where the inputs of programs are written, below `<home_dir>`. */
export const inputFolder = (home: string): string => join(home, 'run', 'input');

/**
 * Writes `input` to a new file of `folder`, mode 0600, and opens it for reading. Its name is removed before it is written,
 * so that nothing is left when this process is killed. Creates `folder` if it is missing. Rejects as node:fs does, with
 * nothing left.
 */
export async function openInput(folder: string, input: string | Uint8Array): Promise<FileHandle> {
  const path = join(folder, randomUUID());
  const written = await create(path, folder);
  let read: FileHandle | null = null;
  try {
    read = await open(path, 'r');
    await rm(path, { force: true });
    await written.writeFile(input);
    // Some file systems report a full disk only here.
    await written.close();
    return read;
  } catch (error) {
    await Promise.allSettled([written.close(), read?.close(), rm(path, { force: true })]);
    throw error;
  }
}

async function create(path: string, folder: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return open(path, 'wx', 0o600);
  }
}

/** Removes inputs whose name an earlier process had not removed when it was killed. Never rejects. */
export async function removeInputs(home: string): Promise<void> {
  const folder = inputFolder(home);
  const left = await readdir(folder).catch(() => []);
  await Promise.allSettled(left.map((name) => rm(join(folder, name))));
}
