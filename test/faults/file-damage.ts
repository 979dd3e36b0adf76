/**
 * The corpus of damage of the store's files: each file, in each way, after a clean stop and after a kill. The store is
 * opened in this process, so an abort or a hang would end the run.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkFile } from '../../modules/rescue/runtime/backup.ts';
import type { Store } from '../../runtime/store/contract.ts';
import { StoreDamaged } from '../../runtime/store/decode.ts';
import { connect } from '../../runtime/store/sqlite/driver.ts';
import { openReading } from '../../runtime/store/sqlite/open-database.ts';
import { HOLDER, makeAccept, makeTake } from '../helpers/dispatches.ts';
import { openOfflineStore } from '../helpers/rescued-store.ts';

export const FILES = ['', '-wal', '-shm', '-wal.id', '.id'];
const EVENTS = 12;
export const STOPS = ['clean stop', 'kill'] as const;
type Stop = (typeof STOPS)[number];

/** Copies of the files: at each stop, an older one, and one from before that with its log. */
export interface Homes {
  readonly root: string;
  readonly of: Readonly<Record<Stop | 'older' | 'earlier', string>>;
  readonly ids: readonly string[];
}

const copyStore = (from: string, to: string): void => {
  for (const end of FILES) {
    rmSync(to + end, { force: true });
    if (existsSync(from + end)) copyFileSync(from + end, to + end);
  }
};

/** @param root an empty folder */
export async function makeHomes(root: string): Promise<Homes> {
  for (;;) {
    const homes = await tryHomes(root);
    const [ours, earlier] = [homes.of.kill, homes.of.earlier].map((path) =>
      readFileSync(`${path}-wal`).readUInt32BE(16),
    );
    // The salts of logs are random: of 32 logs of earlier processes, one passes for a later one.
    if (((earlier ?? 0) - (ours ?? 0)) >>> 0 >= 2 ** 27) return homes;
    for (const path of ['open', 'stopped', 'killed', 'older', 'earlier'])
      for (const end of FILES) rmSync(join(root, `${path}.db${end}`), { force: true });
  }
}

async function tryHomes(root: string): Promise<Homes> {
  const [at, stopped, killed, older, earlier] = ['open', 'stopped', 'killed', 'older', 'earlier'].map((name) =>
    join(root, `${name}.db`),
  ) as [string, string, string, string, string];
  const ids = Array.from({ length: EVENTS }, (_, n) => `event-${n}`);
  const write = async (part: readonly string[]): Promise<Store> => {
    const store = await openOfflineStore(at);
    for (const id of part) await store.write(makeAccept(id));
    return store;
  };
  const first = await write(ids.slice(0, 4));
  copyStore(at, earlier);
  await first.close();
  copyStore(at, older);
  const last = await write(ids.slice(4));
  copyStore(at, killed);
  await last.close();
  copyStore(at, stopped);
  return { root, of: { 'clean stop': stopped, kill: killed, older, earlier }, ids };
}

interface FileDamage {
  readonly name: string;
  readonly count: number;
  /** The `n`th of `count` offsets. */
  readonly apply: (path: string, n: number, older: string) => void;
}

const change = (path: string, make: (bytes: Buffer) => void): void => {
  const bytes = readFileSync(path);
  make(bytes);
  writeFileSync(path, bytes);
};

const OLDER = 'older copy';

export const fileDamages = (cuts: number, flips: number): readonly FileDamage[] => [
  { name: 'missing', count: 1, apply: (path) => rmSync(path) },
  { name: 'empty', count: 1, apply: (path) => truncateSync(path) },
  { name: 'zeroed', count: 1, apply: (path) => change(path, (bytes) => void bytes.fill(0)) },
  {
    name: 'truncated',
    count: cuts,
    apply: (path, n) => truncateSync(path, Math.floor((readFileSync(path).length * n) / cuts)),
  },
  {
    name: 'flipped',
    count: flips,
    apply: (path, n) =>
      change(path, (bytes) => {
        const at = Math.floor((bytes.length * (n + 0.5)) / flips);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (n % 8));
      }),
  },
  {
    name: OLDER,
    count: 1,
    apply: (path, _, older) => (existsSync(older) ? copyFileSync(older, path) : rmSync(path)),
  },
];

export interface FileRow {
  readonly file: string;
  readonly stop: Stop;
  readonly damage: string;
  readonly cells: number;
  readonly refused: number;
  readonly said: number;
  /** Nothing is lost, and nothing is reported. */
  readonly harmless: number;
  /** Something is lost or changed, and nothing is reported; with the offsets. */
  readonly silent: readonly number[];
}

type Outcome = 'refused' | 'said' | 'harmless' | 'silent';

/** Runs the whole corpus. */
export async function runFileCorpus(
  homes: Homes,
  damages: readonly FileDamage[],
  progress = (): void => {},
): Promise<readonly FileRow[]> {
  const rows: FileRow[] = [];
  const path = join(homes.root, 'cell', 'state.db');
  mkdirSync(join(homes.root, 'cell'));
  for (const stop of STOPS) {
    for (const end of FILES) {
      // A log of an earlier process, which was killed.
      const isLog = end === '-wal' || end === '-shm';
      const older = (isLog ? homes.of.earlier : homes.of.older) + end;
      if (!existsSync(homes.of[stop] + end)) continue;
      for (const { name, count, apply } of damages) {
        const found: Outcome[] = [];
        for (let n = 0; n < count; n++) {
          copyStore(homes.of[stop], path);
          apply(path + end, n, older);
          found.push(await outcomeOf(path, homes.ids, stop));
          // The driver closes a file only once its statements are collected.
          await new Promise((resolve) => setImmediate(resolve));
        }
        progress();
        const of = (outcome: Outcome): number => found.filter((each) => each === outcome).length;
        const silent = found.flatMap((outcome, n) => (outcome === 'silent' ? [n] : []));
        const file = `state.db${end}`;
        rows.push({
          ...{
            file,
            stop,
            damage: older.startsWith(homes.of.earlier) && name === OLDER ? 'left over' : name,
            cells: count,
          },
          refused: of('refused'),
          said: of('said'),
          harmless: of('harmless'),
          silent,
        });
      }
    }
  }
  return rows;
}

/** Does what a gateway does: opens the store, takes the work, loads it and, after a kill, checks the whole file. */
async function outcomeOf(path: string, ids: readonly string[], stop: Stop): Promise<Outcome> {
  let store: Store;
  try {
    store = await openOfflineStore(path);
  } catch {
    return 'refused';
  }
  try {
    await store.write({ kind: 'recover', holder: HOLDER, now: 3000, under_way: { runs: [], attempts: [] } });
    const { runs } = await store.write(makeTake(3000, { runs: 100 }));
    const taken: string[] = [];
    for (const { ref } of runs) {
      const stored = await store.read({ kind: 'load', ref });
      if (stored?.dispatch.prompt === `prompt of ${stored?.id}`) taken.push(stored.id);
    }
    const { damage } = await store.read({ kind: 'overview', now: 3000 });
    if (damage !== null) return 'said';
    if (stop === 'kill' && isBroken(path)) return 'said';
    return ids.every((id) => taken.includes(id)) ? 'harmless' : 'silent';
  } catch (error) {
    // The reason of a dispatch, or an error in the log.
    if (error instanceof StoreDamaged || error instanceof Error) return 'said';
    throw error;
  } finally {
    await store.close();
  }
}

function isBroken(path: string): boolean {
  const db = openReading(connect, path);
  try {
    return checkFile(() => db) !== null;
  } finally {
    db.close();
  }
}
