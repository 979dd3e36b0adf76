/** Runs the test files of a queue, one after another, and the tests of each as one suite. */
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { takeFiles } from './queue.ts';

/** The seed of properties that name none: the same cases in every run but a long one, which explores further. */
const SEED = 20_260_101;

/** @param tree folder of the compiled files @param queue folder of the queue @returns when the last test has ended */
export async function runQueue(tree: string, queue: string): Promise<void> {
  if (process.env.HOOKWRIGHT_LONG_TESTS !== '1') fc.configureGlobal({ seed: SEED });
  for (const file of takeFiles(queue)) {
    const compiled = join(tree, file.replace(/\.ts$/, '.js'));
    await new Promise<void>((resolve) => {
      describe(file, async () => {
        after(() => resolve());
        await import(pathToFileURL(compiled).href);
      });
    });
  }
}
