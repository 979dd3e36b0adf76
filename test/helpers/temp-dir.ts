/** A folder for one test, removed when the test ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Somebody still wrote into them when their test ended: what is to be stopped then may be stopped after this. */
const left = new Set<string>();
process.on('exit', () => {
  for (const dir of left) remove(dir);
});

export function tempDir(t: Pick<TestContext, 'after'>): string {
  const dir = mkdtempSync(join(tmpdir(), 'hookwright-test-'));
  t.after(() => {
    try {
      remove(dir);
    } catch {
      left.add(dir);
    }
  });
  return dir;
}

const remove = (dir: string): void => rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
