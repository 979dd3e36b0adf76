/** Runs the test files of a queue, one after another, and the tests of each as one suite. */
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { takeFiles } from './queue.ts';

/** The seed of properties that name none: the same cases in every run but a long one, which explores further. */
const SEED = 20_260_101;

/** A busy machine is not a failure, so these are long: they only pass if nothing happens any more, in ms. */
const MOST_OF_A_FILE = 1_200_000;
const MOST_OF_THE_END = 60_000;

/** @param tree folder of the compiled files @param queue folder of the queue @returns when the last test has ended */
export async function runQueue(tree: string, queue: string): Promise<void> {
  const isLong = process.env.HOOKWRIGHT_LONG_TESTS === '1';
  if (!isLong) fc.configureGlobal({ seed: SEED });
  for (const file of takeFiles(queue)) {
    const compiled = join(tree, file.replace(/\.ts$/, '.js'));
    // Also keeps the process: what waits for nothing that does would end it, and with it all files that are left.
    const limit = isLong ? setInterval(() => {}, MOST_OF_A_FILE) : setTimeout(() => giveUp(file), MOST_OF_A_FILE);
    await new Promise<void>((resolve) => {
      describe(file, async () => {
        after(() => resolve());
        await import(pathToFileURL(compiled).href);
      });
    });
    clearTimeout(limit);
  }
  setTimeout(() => giveUp('after the last file'), MOST_OF_THE_END).unref();
}

/** Ends a process that would not end, and says what it waits for. */
function giveUp(where: string): never {
  console.error(
    `${where}: the tests do not end, because of ${process.getActiveResourcesInfo().join(', ') || 'nothing'}`,
  );
  process.exit(1);
}
