/**
 * The gateway that the tests of turns kill: a dispatcher over a real store, whose agent records when it begins and
 * ends.
 */
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openProgress } from '../../modules/codehosts/runtime/progress.ts';
import { createDispatcher } from '../../runtime/dispatch/create-dispatcher.ts';
import { Observers } from '../../runtime/dispatch/dispatcher.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createIds } from '../../runtime/platform/ids.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { makeDispatch } from '../helpers/dispatches.ts';
import { silentLog } from '../helpers/log.ts';
import { openTestStore } from '../helpers/postgres/store.ts';
import { openServerStore } from '../helpers/rescued-store.ts';
import type { TurnsChild } from './turns.ts';
import { MARKS, MARKS_FOLDER, objectOf, parseTurn, sessionOf, TURNS_LOG } from './turns.ts';

const { home, database, runMs, newest, name, gateways } = JSON.parse(process.argv[2] ?? '') as TurnsChild;
const note = (kind: string, id: string): void =>
  appendFileSync(join(home, TURNS_LOG), `${kind} ${id} ${process.pid}\n`);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const store =
  database === null
    ? await openServerStore({ path: join(home, 'state.db'), durability: 'full', log: silentLog })
    : await openTestStore(database.url, database.schema, {
        node: { url: () => `http://127.0.0.1/${name}`, version: '0.0.0', table: () => 'hash', problem: () => null },
      });
const observers = new Observers();
const ids = createIds(randomBytes);

/** A code host on disk: a file for each mark of an object. A kill can happen between any two changes. */
const targets = { marks: { progress: { as: 'reaction', source: 'github', at: [{}], marks: MARKS } } };
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
const progress = openProgress({
  ...{ store, clock: systemClock, log: silentLog, ids, observers, wake: () => {} },
  installation: async () => 'ab'.repeat(10),
  table: () => ({ targets }) as unknown as RouteTable,
  deliverer: {
    async deliver({ extra: { object = '' }, text }) {
      const folder = join(home, MARKS_FOLDER, object);
      mkdirSync(folder, { recursive: true });
      await pause();
      writeFileSync(join(folder, text), '');
      await pause();
      for (const other of readdirSync(folder).filter((mark) => mark !== text)) {
        rmSync(join(folder, other), { force: true });
        await pause();
      }
      return { kind: 'ok', message_id: null, sent: 1 };
    },
  },
});

const service = createDispatcher({
  ...{ store, clock: systemClock, log: silentLog, random: Math.random, ids, observer: observers.all },
  agents: () => ({
    ...{ timeout_ms: 60_000, max_attempts: 1 },
    async run({ delivery_id, signal }) {
      note('begin', delivery_id);
      await new Promise((resolve) => setTimeout(resolve, runMs));
      if (signal.aborted) throw new Error('stopped');
      note('end', delivery_id);
      return 'done';
    },
  }),
  deliverer: {
    async deliver({ delivery_id, first_attempt_at }) {
      // A host that is asked for the post before a repeat.
      const isPosted = (): boolean => readFileSync(join(home, TURNS_LOG), 'utf8').includes(`post ${delivery_id} `);
      if (newest === true && (first_attempt_at === null || !isPosted())) note('post', delivery_id);
      return { kind: 'ok', message_id: null, sent: 1 };
    },
    ...{ isImmediate: () => newest !== true, isEnabled: () => true, refusal: () => null },
  },
  policy: () => ({ max_attempts: 1, at_most_once: false }),
  limits: () => ({ max_concurrent_runs: 8, max_queued_runs: 100_000 }),
});

let taken = 0;
async function take(id: string): Promise<void> {
  const { key } = parseTurn(id);
  // The ids of dispatches sort by time.
  const own = `${Date.now()}-${String(++taken).padStart(6, '0')}-${id}`;
  const extra = { object: objectOf(id, gateways) };
  const on_newer = Number(key.slice(1)) % 2 === 0 ? 'latest' : 'cancel';
  const dispatch = makeDispatch(own, {
    ...(newest === true ? { on_newer, progress: { target: 'marks', extra, unresolved: [] } } : {}),
    ...{ delivery_id: id, accepted_at: Date.now(), session: sessionOf(key), session_key: key },
  });
  const claim = { profile: 'default', route: 'alerts', delivery_id: id, generated: false, ttl_ms: 3_600_000 };
  say(`${id} ${(await service.accept(dispatch, claim, null)).kind}`);
}

async function finish(): Promise<void> {
  for (;;) {
    const { tallies } = await store.read({ kind: 'overview', now: Date.now() });
    const marks = await store.read({ kind: 'guard_rows', of: 'progress' });
    const isOver = tallies.every(({ pending, running, delivering }) => pending + running + delivering === 0);
    if (isOver && marks.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await service.stop(0);
  await progress.close();
  await store.close();
  process.exit(0);
}

void service.start();
say('ready');
createInterface({ input: process.stdin }).on('line', (line) => void (line === 'finish' ? finish() : take(line)));
