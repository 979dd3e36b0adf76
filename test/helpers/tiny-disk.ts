/** A file system of a given size for one test; null if this process may not mount one. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';

export function tinyDisk(t: Pick<TestContext, 'after'>, size: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'hookwright-disk-'));
  const call = (...argv: string[]): number | null => spawnSync(argv[0] ?? '', argv.slice(1)).status;
  const mounted = process.getuid?.() === 0 && call('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder) === 0;
  atEnd(t, () => {
    if (mounted) call('umount', '-l', folder);
    rmSync(folder, { recursive: true, force: true });
  });
  return mounted ? folder : null;
}
