/**
 * Kills a process that writes a store: its log must never be mistaken for that of another process, and no event may be
 * lost.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { logMarkPath } from '../../runtime/store/store-path.ts';
import { openOfflineStore } from '../helpers/rescued-store.ts';

/** A kill happens at most this long after the store is open, in ms. */
const LATEST_MS = 400;

export interface KillCounts {
  readonly kills: number;
  /** Kills after which the log was identified. */
  readonly marked: number;
  /** False reports of a start about a whole file, or missing events. */
  readonly wrong: readonly string[];
}

/** @param root an empty folder */
export async function killWriters(root: string, kills: number, progress = (): void => {}): Promise<KillCounts> {
  const path = join(root, 'state.db');
  const wrong: string[] = [];
  let marked = 0;
  for (let n = 0; n < kills; n++) {
    const stored = await killWriter(path);
    if (existsSync(logMarkPath(path))) marked++;
    const store = await openOfflineStore(path);
    const { damage } = await store.read({ kind: 'overview', now: 0 });
    const found = new Set((await store.read({ kind: 'list', filter: { limit: 10_000 } })).map(({ id }) => id));
    await store.close();
    if (damage !== null) wrong.push(`kill ${n}: ${damage.message}`);
    const lost = stored.filter((id) => !found.has(id));
    if (lost.length > 0) wrong.push(`kill ${n}: ${lost.length} events of ${stored.length} are lost`);
    progress();
  }
  return { kills, marked, wrong };
}

/** Resolves to the stored ids. */
async function killWriter(path: string): Promise<readonly string[]> {
  const program = fileURLToPath(new URL('./log-writer.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  await new Promise((resolve) => setTimeout(resolve, Math.random() * LATEST_MS));
  child.kill('SIGKILL');
  await ended;
  return output.split('\n').slice(1, -1);
}
