/**
 * Sends events of a few sessions to gateways that are killed one after the other, and records the turns that their
 * agents saw.
 */
import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Store } from '../../runtime/store/contract.ts';
import type { DispatchSummary } from '../../runtime/store/queries.ts';
import { nodeArgv } from '../helpers/node-argv.ts';
import { openTestStore } from '../helpers/postgres/store.ts';
import { openOfflineStore } from '../helpers/rescued-store.ts';
import { seededRandom } from '../helpers/seeded-random.ts';
import type { CrashDatabase } from './protocol.ts';

export interface TurnsChild {
  readonly home: string;
  /** Null: a file in the home. */
  readonly database: CrashDatabase | null;
  /** How long a run takes, in ms. */
  readonly runMs: number;
  /** Newer events replace earlier runs: in every other session also the one in progress. */
  readonly newest?: boolean;
  /** Durability of the gateway. */
  readonly name: string;
  readonly gateways: number;
}

export interface TurnsRow extends Omit<TurnsChild, 'name'> {
  readonly keys: number;
  /** Number of events of each key. */
  readonly events: number;
  readonly kills: number;
  readonly seed: number;
}

export interface TurnsReport {
  readonly wrong: readonly string[];
  readonly runs: number;
  /** Events that were posted. */
  readonly posts: number;
  /** Runs that were repeated after a kill. */
  readonly repeated: number;
  /** From the first start to the last end, in ms. */
  readonly ms: number;
}

export const TURNS_LOG = 'turns.log';
export const sessionOf = (key: string): string => `s:${key}`;
export const parseTurn = (id: string): { readonly key: string } => ({ key: id.split('-')[0] ?? '' });

/** Marks that show the progress of an event: a folder for each object. */
export const MARKS_FOLDER = 'marks';
export const MARKS = {
  accepted: { text: 'accepted' },
  running: { text: 'running' },
  waiting: { text: 'waiting' },
  done: { text: 'done' },
  failed: { text: 'failed' },
  superseded: { text: 'superseded' },
};

/** The object of an event: with one gateway, those of every third session have the same one. */
export function objectOf(id: string, gateways: number): string {
  const { key } = parseTurn(id);
  return gateways === 1 && Number(key.slice(1)) % 3 === 0 ? key : id;
}

/** Maximum number of events that are sent and not acknowledged. */
const IN_FLIGHT = 100;
/** The same for newer events, so that some runs begin in between. */
const FEW = 10;
const LOOK_MS = 5;
const [NODE = '', ...CHILD] = nodeArgv(new URL('./turns-child.js', import.meta.url));

class Gateway {
  readonly name: string;
  private readonly row: TurnsRow;
  private readonly acknowledged: Set<string>;
  private child: ChildProcessByStdio<Writable, Readable, null> | null = null;
  private ended: Promise<unknown> = Promise.resolve();
  private ready: Promise<void> = Promise.resolve();
  /** Events that are sent and not answered. */
  readonly open = new Set<string>();

  constructor(row: TurnsRow, name: string, acknowledged: Set<string>) {
    this.row = row;
    this.name = name;
    this.acknowledged = acknowledged;
    this.start();
  }

  start(): void {
    const { home, database, runMs, newest = false, gateways } = this.row;
    const options: TurnsChild = { home, database, runMs, newest, gateways, name: this.name };
    const child = spawn(NODE, [...CHILD, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.child = child;
    child.stdin.on('error', () => {});
    this.ended = new Promise((resolve) => child.on('close', resolve));
    this.ready = new Promise((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line === 'ready') return resolve();
        const [id = '', status] = line.split(' ');
        this.open.delete(id);
        if (status === 'accepted' || status === 'duplicate') this.acknowledged.add(id);
      });
      child.on('close', () => resolve());
    });
  }

  async send(id: string): Promise<void> {
    await this.ready;
    this.open.add(id);
    this.child?.stdin.write(`${id}\n`);
  }

  async killAndStart(): Promise<void> {
    const { child } = this;
    child?.kill('SIGKILL');
    await this.ended;
    appendFileSync(join(this.row.home, TURNS_LOG), `killed - ${child?.pid}\n`);
    this.open.clear();
    this.start();
    await this.ready;
  }

  async finish(): Promise<void> {
    await this.ready;
    this.child?.stdin.write('finish\n');
    await this.ended;
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, LOOK_MS));

/** Sends all events, each until it is acknowledged, and waits until all work has ended. */
export async function killInTurns(row: TurnsRow): Promise<TurnsReport> {
  const random = seededRandom(row.seed);
  const left = Array.from({ length: row.keys }, (_, key) =>
    Array.from({ length: row.events }, (_unused, n) => `k${key}-${n}`),
  );
  const total = row.keys * row.events;
  const acknowledged = new Set<string>();
  const gateways = Array.from({ length: row.gateways }, (_, n) => new Gateway(row, `g${n}`, acknowledged));
  const anyOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  let sent: string[] = [];
  let kills = 0;
  while (acknowledged.size < total) {
    if (kills < row.kills && acknowledged.size >= ((kills + 1) * total) / (row.kills + 2)) {
      kills++;
      await anyOf(gateways).killAndStart();
    }
    const underWay = new Set(gateways.flatMap(({ open }) => [...open]));
    sent = sent.filter((id) => !acknowledged.has(id));
    const again = sent.filter((id) => !underWay.has(id));
    const fresh: string[] = [];
    for (
      let open = left.filter(({ length }) => length > 0);
      open.length > 0 && sent.length + fresh.length < (row.newest === true ? FEW : IN_FLIGHT);
    ) {
      const id = anyOf(open).shift();
      if (id !== undefined) fresh.push(id);
      open = open.filter(({ length }) => length > 0);
    }
    sent.push(...fresh);
    await Promise.all([...again, ...fresh].map((id) => anyOf(gateways).send(id)));
    await pause();
  }
  await Promise.all(gateways.map((gateway) => gateway.finish()));
  return inspect(row, total);
}

async function inspect(row: TurnsRow, total: number): Promise<TurnsReport> {
  const { home, database, keys } = row;
  const store =
    database === null
      ? await openOfflineStore(join(home, 'state.db'))
      : await openTestStore(database.url, database.schema);
  const stored = await allOf(store);
  const audit = await store.read({ kind: 'audit' });
  await store.close();
  const wrong = [...audit, ...(stored.length === total ? [] : [`${stored.length} dispatches, not ${total}`])];
  const lines = readFileSync(join(home, TURNS_LOG), 'utf8').trimEnd().split('\n');
  const log = lines.map((line) => line.split(' ') as [kind: string, id: string, pid: string]);
  let repeated = 0;
  for (let key = 0; key < keys; key++) {
    const order = stored.filter(({ session }) => session === sessionOf(`k${key}`)).map((one) => one.delivery_id);
    const found = row.newest === true ? newestOf(order, stored, log) : turnsOf(`k${key}`, order, log);
    wrong.push(...found.wrong, ...(row.newest === true ? marksOf(row, order, stored) : []));
    repeated += found.repeated;
  }
  const times = stored.flatMap(({ started_at, answered_at }) => [started_at ?? 0, answered_at ?? 0]);
  return {
    wrong,
    runs: log.filter(([kind]) => kind === 'begin').length,
    posts: log.filter(([kind]) => kind === 'post').length,
    repeated,
    ms: Math.max(...times) - times.reduce((a, b) => Math.min(a, b)),
  };
}

/** All dispatches in the order of acceptance. */
export async function allOf(store: Store): Promise<readonly DispatchSummary[]> {
  const all: DispatchSummary[] = [];
  for (;;) {
    const before = all.at(-1)?.ref;
    const page = await store.read({
      kind: 'list',
      filter: { limit: 1000, ...(before === undefined ? {} : { before }) },
    });
    all.push(...page);
    if (page.length < 1000) return all.reverse();
  }
}

/** Each object has one mark, that of its last event; none, if a kill came before the mark and a newer event before the run. */
function marksOf({ home, gateways }: TurnsRow, order: readonly string[], stored: readonly DispatchSummary[]): string[] {
  const last = new Map(order.map((id) => [objectOf(id, gateways), id]));
  return [...last].flatMap(([object, id]) => {
    const { state } = stored.find(({ delivery_id }) => delivery_id === id) ?? {};
    const folder = join(home, MARKS_FOLDER, object);
    const marks = existsSync(folder) ? readdirSync(folder) : [];
    const isRight = state === 'done' ? marks.join() === 'done' : ['', 'superseded'].includes(marks.join());
    return isRight ? [] : [`${object}, ${state}, shows: ${marks}`];
  });
}

/** The last event of a session has run and is posted; nothing that was skipped is, and nothing twice. */
function newestOf(
  order: readonly string[],
  stored: readonly DispatchSummary[],
  log: readonly (readonly [string, string, string])[],
) {
  const wrong: string[] = [];
  const count = (kind: string, id: string): number => log.filter((line) => line[0] === kind && line[1] === id).length;
  for (const [index, id] of order.entries()) {
    const { state, reason } = stored.find(({ delivery_id }) => delivery_id === id) ?? {};
    const isLast = index === order.length - 1;
    const posts = count('post', id);
    if (state === 'done' ? posts !== 1 : posts > 0) wrong.push(`${id} is ${state}, and was posted ${posts} times`);
    if (state !== 'done' && (isLast || state !== 'skipped' || reason !== 'superseded'))
      wrong.push(`${id} is ${state}, ${reason}`);
  }
  return { wrong, repeated: order.filter((id) => count('begin', id) > 1).length };
}

/** @param order the ids in the order of acceptance */
function turnsOf(key: string, order: readonly string[], log: readonly (readonly [string, string, string])[]) {
  const wrong: string[] = [];
  const killed = new Set<string>();
  let at = -1;
  let repeated = 0;
  let running: { readonly id: string; readonly pid: string } | null = null;
  for (const [kind, id, pid] of log) {
    if (kind === 'killed') killed.add(pid);
    if (parseTurn(id).key !== key) continue;
    if (kind === 'end') running = null;
    if (kind !== 'begin') continue;
    if (running !== null && !killed.has(running.pid)) wrong.push(`${id} begins while ${running.id} runs`);
    if (id === order[at]) repeated++;
    else if (id === order[at + 1]) at++;
    else wrong.push(`${id} begins after ${order[at]}, and ${order[at + 1]} is next`);
    running = { id, pid };
  }
  if (at !== order.length - 1) wrong.push(`${order.length - 1 - at} of ${key} did not run`);
  return { wrong, repeated };
}
