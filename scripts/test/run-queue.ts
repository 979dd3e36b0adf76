/** Runs the test files of a queue, one after another, and the tests of each as one suite. */
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { takeFiles } from './queue.ts';

/** @param tree folder of the queue and of the compiled files @returns when the last test has ended */
export async function runQueue(tree: string): Promise<void> {
  for (const file of takeFiles(tree)) {
    const compiled = join(tree, file.replace(/\.ts$/, '.js'));
    await new Promise<void>((resolve) => {
      describe(file, async () => {
        after(() => resolve());
        await import(pathToFileURL(compiled).href);
      });
    });
  }
}
