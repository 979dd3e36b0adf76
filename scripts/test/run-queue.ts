/** Runs the test files of a queue, one after another, and the tests of each as one suite. */
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { takeFiles } from './queue.ts';

/** The seed of property tests without their own: all runs have the same cases, except long runs, which explore more. */
const SEED = 20_260_101;

/** Timeouts in ms. They are long, because a busy machine is not a failure, and expire only if nothing happens any more. */
const MOST_OF_A_FILE = 1_200_000;
const MOST_OF_THE_END = 60_000;

/** Resolves when the last test has ended. @param tree folder of the compiled files @param queue folder of the queue */
export async function runQueue(tree: string, queue: string): Promise<void> {
  const isLong = process.env.HOOKWRIGHT_LONG_TESTS === '1';
  if (!isLong) fc.configureGlobal({ seed: SEED });
  for (const file of takeFiles(queue)) {
    const compiled = join(tree, file.replace(/\.ts$/, '.js'));
    // The timer also keeps the process alive: a test that waits without a handle would end it before the remaining files.
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

/** Ends a process that does not end, and prints the resources that it waits for. */
function giveUp(where: string): never {
  console.error(
    `${where}: the tests do not end, because of ${process.getActiveResourcesInfo().join(', ') || 'nothing'}`,
  );
  process.exit(1);
}
