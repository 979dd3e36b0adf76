/**
 * Copies that are put in place by hand after a kill, made at any moment and in any way, beside any of the files that the
 * kill left: each start either reports that it is a copy, or has a state that the store once had.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { copyStore } from '../../../modules/rescue/runtime/rescue.ts';
import { StoreRefused } from '../../../runtime/store/contract.ts';
import { connect } from '../../../runtime/store/sqlite/driver.ts';
import { makeAccept } from '../../helpers/dispatches.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { nodeArgv } from '../../helpers/node-argv.ts';
import { openOfflineStore, openServerStore } from '../../helpers/rescued-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const PROCESS = new URL('../../helpers/store-process.js', import.meta.url);
const KILLS = 3;
const BURST = 150;
/** The files that a kill leaves, besides the database and its locks. */
const BESIDE = ['-wal', '-shm', '.id', '-wal.id'];

const idOf = (n: number): string => `e${String(n).padStart(6, '0')}`;

/** Copies the files that exist, in this order, as `cp` does. */
function copyFiles(from: string, to: string, ends: readonly string[]): void {
  mkdirSync(join(to, '..'), { recursive: true });
  for (const end of ends) if (existsSync(from + end)) copyFileSync(from + end, to + end);
}

interface Copy {
  readonly what: string;
  readonly path: string;
  /** The files of which it consists. */
  readonly ends: readonly string[];
  /** Number of events that were acknowledged before it was made. */
  readonly acknowledged: number;
}

interface Killed {
  readonly path: string;
  readonly copies: readonly Copy[];
  readonly acknowledged: number;
}

/** Copies a store before its last start, and in the middle of bursts of events after it, and kills its process. */
async function killed(t: TestContext, dir: string): Promise<Killed> {
  const path = join(dir, 'home', 'state.db');
  const copies: Copy[] = [];
  const copy = async (when: string, acknowledged: number, withLog: boolean): Promise<void> => {
    const at = (how: string): string => join(dir, `${how} ${when}`, 'state.db');
    const add = (how: string, ends: readonly string[]): void =>
      void copies.push({ what: `${how} ${when}`, path: at(how), ends, acknowledged });
    copyFiles(path, at('file'), ['']);
    add('file', ['']);
    if (withLog) {
      copyFiles(path, at('file, log and index'), ['', '-wal', '-shm']);
      add('file, log and index', ['', '-wal', '-shm']);
    }
    mkdirSync(join(at('backup'), '..'), { recursive: true });
    await copyStore(path, at('backup'));
    add('backup', ['']);
  };
  let sent = 0;
  const first = await openOfflineStore(path);
  while (sent < 20) await first.write(makeAccept(idOf(sent++)));
  await first.close();
  await copy('before the start', sent, false);

  const [program = '', ...argv] = [...nodeArgv(PROCESS), 'server', path];
  const child = spawn(program, argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  const acknowledged = (): number => 20 + said.split(' stored\n').length - 1;
  const burst = async (): Promise<void> => {
    const half = acknowledged() + BURST / 3;
    for (const end = sent + BURST; sent < end; sent++) child.stdin.write(`${idOf(sent)}\n`);
    await until(async () => acknowledged() >= half);
  };
  await until(async () => said.includes('open\n'));
  for (const when of ['at the first burst', 'at the second burst', 'at the third burst']) {
    await burst();
    await copy(when, acknowledged(), true);
    await until(async () => acknowledged() === sent);
    // Time for the checkpoints after which the log begins again.
    await sleep(1500);
  }
  await burst();
  child.kill('SIGKILL');
  await once(child, 'close');
  return { path, copies, acknowledged: acknowledged() };
}

interface Start {
  /** The store was refused, or reported a loss. */
  readonly outcome: 'refused' | 'reported' | 'silent';
  /** The number of its first events, without gaps; null: there are gaps, or the file is damaged. */
  readonly events: number | null;
}

function eventsIn(path: string): number | null {
  const db = connect(path, { busyMs: 5000 });
  try {
    if (db.query<[string]>('PRAGMA integrity_check(1)').get()?.[0] !== 'ok') return null;
    const ids = db.query<[string]>('SELECT id FROM dispatch ORDER BY ref').all();
    return ids.every(([id], n) => id === idOf(n)) ? ids.length : null;
  } catch {
    return null;
  } finally {
    db.close();
  }
}

async function start(path: string): Promise<Start> {
  const log = recordLog();
  try {
    const store = await openServerStore({ path, durability: 'full', log });
    await until(async () => {
      const db = connect(path, { busyMs: 5000 });
      const unchecked = db.query("SELECT 1 FROM meta WHERE key = 'unclean_stop_found'").get();
      db.close();
      return unchecked === undefined;
    });
    const { damage } = await store.read({ kind: 'overview', now: 0 });
    await store.close();
    assert.equal(
      damage !== null,
      log.lines.some(({ level }) => level === 'error'),
    );
    return { outcome: damage === null ? 'silent' : 'reported', events: eventsIn(path) };
  } catch (error) {
    assert.ok(error instanceof StoreRefused, String(error));
    return { outcome: 'refused', events: null };
  }
}

it('is recognised, or is a state that the store had, in each of 60 starts', { timeout: 300_000 }, async (t) => {
  const counts: Record<string, number> = {};
  let starts = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const dir = tempDir(t);
    const left = await killed(t, dir);
    const tried = async (copy: Copy, without: readonly string[]): Promise<void> => {
      const path = join(dir, `start ${++starts}`, 'state.db');
      copyFiles(left.path, path, BESIDE);
      copyFiles(copy.path, path, copy.ends);
      for (const end of without) rmSync(path + end, { force: true });
      const { outcome, events } = await start(path);
      const what = `${copy.what}${without.length === 0 ? '' : `, without ${without.join(' and ')}`}: ${outcome}, ${events}`;
      const count = `${outcome}, ${events === null ? 'damaged' : 'whole'}`;
      counts[count] = (counts[count] ?? 0) + 1;
      // Refused or damaged: only if the copy is damaged by itself, because a checkpoint changed the file during it.
      if (events === null) {
        assert.notEqual(outcome, 'silent', what);
        assert.equal(eventsIn(join(copy.path)), null, what);
        return;
      }
      assert.ok(events <= left.acknowledged + 1, what);
      if (outcome === 'silent') assert.ok(events >= copy.acknowledged, `${what}, ${copy.acknowledged} acknowledged`);
    };
    for (const copy of left.copies) {
      await tried(copy, []);
      if (copy.ends.length > 1) continue;
      await tried(copy, ['-shm']);
      if (copy.what.startsWith('file')) await tried(copy, ['-wal', '-shm']);
    }
    // The files as the kill left them.
    const { outcome, events } = await start(left.path);
    assert.equal(outcome, 'silent');
    assert.ok((events ?? 0) >= left.acknowledged, `${events} of ${left.acknowledged}`);
  }
  t.diagnostic(`${starts} starts: ${JSON.stringify(counts)}`);
  assert.ok(starts >= 60, String(starts));
});
