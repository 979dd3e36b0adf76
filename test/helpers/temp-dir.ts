/** A folder for one test, removed when the test ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';

/** A program may still write into them when their test ends; it may be stopped after this. */
const left = new Set<string>();
process.on('exit', () => {
  for (const dir of left) remove(dir);
});

export function tempDir(t: Pick<TestContext, 'after'>): string {
  const dir = mkdtempSync(join(tmpdir(), 'hookwright-test-'));
  atEnd(t, () => {
    try {
      remove(dir);
    } catch {
      left.add(dir);
    }
  });
  return dir;
}

const remove = (dir: string): void => rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
