/**
 * An upgrade with pending work of every kind. `test/fixtures/upgrade` has the store of a gateway of format 7 that was killed: its
 * targets refused every message, and its agent did not answer prompts that begin with HANG.
 */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { connect } from '../../runtime/store/sqlite/driver.ts';
import { FORMAT, formatOf } from '../../runtime/store/sqlite/schema.ts';
import { FastClock } from '../helpers/fast-clock.ts';
import { startGateway, until } from '../helpers/gateway.ts';
import { openOfflineStore } from '../helpers/rescued-store.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const FIXTURE = join(ROOT, 'test/fixtures/upgrade');
/** An hour after the kill: the approval has not expired, and the budget of the day is used up. */
const NOW = Date.parse('2026-11-28T20:10:00Z');

const AGENT = `
import { appendFileSync } from 'node:fs';
let prompt = '';
for await (const part of process.stdin) prompt += part;
appendFileSync(process.argv[2], JSON.stringify(prompt.trim()) + '\\n');
process.stdout.write('answer to ' + prompt.trim());
`;

const configFor = (home: string, port: number): string => `
agent: { command: [node, ${join(home, 'agent.mjs')}, ${join(home, 'prompts')}], confined: a test }
gateway: { timezone: UTC, approvals: { deliver: log, expires: 24h } }
platforms:
  http: { enabled: true, url: "http://127.0.0.1:${port}/", secret: whsec_bXlzZWNyZXRteXNlY3JldG15c2VjcmV0bXlzZWNyZXQ=, allow_http: true, allow_private: true, body: "{text}" }
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      slow: { prompt: "HANG {n}", deliver: http }
      answered: { prompt: "answered {n}", deliver: http }
      message: { agent: none, prompt: "message {n}", deliver: http }
      direct: { deliver_only: true, prompt: "direct {n}", deliver: http }
      burst: { prompt: "burst {events}", deliver: http, coalesce: { key: n, window_seconds: 300, keep: all, each: "{n}{m}" } }
      talk: { prompt: "HANG talk {m}", deliver: http, session_key: "{n}" }
      held: { prompt: "held {n}", deliver: http }
      asks: { prompt: "OUTPUT {n}", deliver: log, outputs: { note: { deliver: log, approve: true } } }
      spent: { prompt: "spent {n}", deliver: log, budget: { runs: 1, per: day } }
      fires: { cron_job: nightly, prompt: "now {n}" }
      done: { prompt: "done {n}", deliver: log }
jobs:
  nightly: { schedule: "0 3 1 1 *", prompt: HANG nightly, deliver: http }
`;

/** A target that accepts everything. Returns its port and the texts that it has received. */
async function startTarget(t: TestContext): Promise<{ readonly port: number; readonly received: string[] }> {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    received.push(await text(request));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, received };
}

function placeStore(home: string): string {
  const path = join(home, 'state.db');
  for (const end of ['', '-wal'])
    writeFileSync(path + end, gunzipSync(readFileSync(join(FIXTURE, `state.db${end}.gz`))), { mode: 0o600 });
  for (const end of ['.id', '-wal.id']) copyFileSync(join(FIXTURE, `state.db${end}`), path + end);
  return path;
}

const sorted = (texts: readonly string[]): readonly string[] => [...texts].sort();

it('a gateway ends the pending work of a killed gateway of an earlier format, each message once', async (t) => {
  const home = tempDir(t);
  const path = placeStore(home);
  const { port, received } = await startTarget(t);
  writeFileSync(join(home, 'agent.mjs'), AGENT);
  const context = { clock: new FastClock(NOW) };
  const gateway = await startGateway(t, { home, config: configFor(home, port), context });
  const fine = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await gateway.cli(...argv);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const openOnes = async (): Promise<readonly string[]> => {
    const rows = JSON.parse(await fine('deliveries', 'list', '--json')) as { route: string; state: string }[];
    return rows.filter(({ state }) => !['done', 'dead', 'skipped'].includes(state)).map(({ route }) => route);
  };

  // By itself: all but pending work for a person.
  await until(async () => (await openOnes()).length === 3);
  assert.deepEqual(sorted(await openOnes()), ['asks', 'held', 'held']);
  const answers = ['HANG 1', 'HANG 2', 'HANG talk 1', 'HANG talk 2', 'HANG tea', 'answered 1'];
  const unattended = [...answers.map((prompt) => `answer to ${prompt}`), 'message 1'];
  const withoutLists = (texts: readonly string[]) => texts.filter((one) => !/burst|nightly/.test(one));
  assert.deepEqual(sorted(withoutLists(received)), sorted(unattended));
  const lists = received.filter((one) => /burst|nightly/.test(one));
  assert.deepEqual(lists.length, 2);
  assert.ok(
    lists.some((one) => /burst[\s\S]*k1[\s\S]*k2/.test(one)),
    'both events of the burst',
  );
  assert.ok(
    lists.some((one) => /nightly[\s\S]*now 1/.test(one)),
    'the event of the job',
  );
  const at = (one: string): number => received.indexOf(`answer to HANG talk ${one}`);
  assert.ok(at('1') < at('2'), 'a session takes its runs in turn');
  const prompts = readFileSync(join(home, 'prompts'), 'utf8').split('\n').slice(0, -1);
  assert.equal(prompts.length, 7);
  assert.ok(!prompts.some((prompt) => /answered/.test(prompt)), 'a stored answer is not made again');

  // What waited for a person, or had failed.
  received.length = 0;
  const dead = JSON.parse(await fine('deliveries', 'replay', '--state', 'dead', '--json')) as unknown[];
  assert.equal(dead.length, 1);
  const [approval] = JSON.parse(await fine('approvals', 'list', '--json')) as { id: string }[];
  await fine('approvals', 'approve', approval?.id ?? '');
  await fine('route', 'resume', 'held');
  await until(async () => (await openOnes()).length === 0);
  assert.deepEqual(sorted(received), ['answer to held 1', 'answer to held 2', 'direct 1']);
  const asked = JSON.parse(await fine('deliveries', 'list', '--route', 'asks', '--json')) as { state: string }[];
  assert.deepEqual(
    asked.map(({ state }) => state),
    ['done'],
  );

  // Counts, pauses and jobs are as they were.
  const spent = await gateway.cli('webhook', 'test', 'spent', '--payload', '{"n":3}');
  assert.match(spent.stdout, /"reason":"budget"/);
  const jobs = JSON.parse(await fine('job', 'list', '--json')) as { name: string; state: string }[];
  assert.deepEqual(sorted(jobs.map(({ name, state }) => `${name} ${state}`)), [
    'nightly active',
    'rest paused',
    'tea active',
  ]);
  assert.equal((await gateway.stop()).code, 0);
  const store = await openOfflineStore(path);
  assert.deepEqual(await store.read({ kind: 'audit' }), []);
  await store.close();
  const db = connect(path, { busyMs: 1000 });
  t.after(() => db.close());
  assert.deepEqual([formatOf(db), db.query('PRAGMA integrity_check').get()], [FORMAT, ['ok']]);
});

it('a gateway refuses the store of a later version by name and format, and leaves it unchanged', async (t) => {
  const home = tempDir(t);
  const path = placeStore(home);
  const db = connect(path, { busyMs: 0 });
  db.exec(`PRAGMA user_version = ${FORMAT + 1}; PRAGMA wal_checkpoint(TRUNCATE)`);
  db.close();
  const before = readFileSync(path);
  await assert.rejects(
    startGateway(t, { home, config: configFor(home, 9) }),
    new RegExp(`\\bstate\\.db was written by a newer hookwright \\(format ${FORMAT + 1}\\b`),
  );
  assert.deepEqual(readFileSync(path), before);
});
