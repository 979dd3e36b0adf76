/** Shares a queue of files between processes, in a folder: the process that creates the mark of an entry owns it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const listPath = (folder: string): string => join(folder, 'queue.json');

/** @param folder a folder without a queue */
export function createQueue(folder: string, files: readonly string[]): void {
  writeFileSync(listPath(folder), JSON.stringify(files));
}

function take(folder: string, index: number): boolean {
  try {
    mkdirSync(join(folder, `taken-${index}`));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Yields files that no other process has claimed, and claims each on request. */
export function* takeFiles(folder: string): Generator<string> {
  const files = JSON.parse(readFileSync(listPath(folder), 'utf8')) as readonly string[];
  for (const [index, file] of files.entries()) if (take(folder, index)) yield file;
}
