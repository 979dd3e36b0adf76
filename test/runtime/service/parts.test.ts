/** What a service loads of the modules: what its table needs, and nothing else. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { runtimeParts } from '../../../cli/base/module.ts';
import { MODULES } from '../../../main/modules.ts';
import type { RuntimePart } from '../../../runtime/module.ts';
import type { Logger } from '../../../runtime/platform/log.ts';
import { createService } from '../../../runtime/service/create-service.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog, silentLog } from '../../helpers/log.ts';
import type { TableParts } from '../../helpers/route-table.ts';
import { routeTable, SECRET } from '../../helpers/route-table.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** The parts of the program's modules, and the names of those that were loaded. */
function watchedParts(): { readonly parts: readonly RuntimePart[]; readonly loaded: string[] } {
  const loaded: string[] = [];
  const watched = <Part>(name: string, part: Part): Part | object =>
    typeof part === 'function'
      ? () => [loaded.push(name), part()][1]
      : { ...part, load: watched(name, (part as { readonly load: unknown }).load) };
  const parts = runtimeParts(MODULES).map((part) =>
    Object.fromEntries(Object.entries(part).map(([name, of]) => [name, watched(name, of)])),
  );
  return { parts, loaded };
}

async function serveParts(t: TestContext, table: TableParts, parts: readonly RuntimePart[], log: Logger = silentLog) {
  const options = { table: routeTable(table).table, home: tempDir(t), log };
  const service = await createService(options, parts);
  atEnd(t, () => service.stop({ drainMs: 0 }));
  return service;
}

const MARKED: TableParts = { routes: { ci: { prompt: [{ kind: 'notice' }, { kind: 'dump', marked: true }] } } };

test('a table on SQLite that keeps no requests and marks nothing loads no part of a module', async (t) => {
  const { parts, loaded } = watchedParts();
  const service = await serveParts(t, { routes: { ci: {} } }, parts);
  const { url } = await service.listen();
  const answer = await sendAgain(`${url}/webhooks/ci`, { method: 'POST', body: '{}', headers: signed('{}', SECRET) });
  assert.equal(answer.status, 202);
  await service.metrics();
  assert.deepEqual(loaded, []);
});

test('a service stops within a number of ms, and refuses what is none', async (t) => {
  const service = await serveParts(t, { routes: { ci: {} } }, []);
  for (const drainMs of [Number.NaN, -1, Number.POSITIVE_INFINITY, '5', null] as number[])
    await assert.rejects(service.stop({ drainMs }), {
      name: 'TypeError',
      message: 'stop: drainMs: a number of ms, 0 or more',
    });
  assert.deepEqual(await service.stop({ drainMs: 0.5 }), { drained: true, abandoned: 0 });
});

test('the keeper is loaded before the first request to a route that keeps requests', async (t) => {
  const { parts, loaded } = watchedParts();
  const service = await serveParts(t, { routes: { ci: { capture: 'all' } } }, parts);
  assert.deepEqual(loaded, ['keeper']);
  const { url } = await service.listen();
  await sendAgain(`${url}/webhooks/ci`, { method: 'POST', body: '{}', headers: signed('{}', SECRET) });
  const kept = await (await service.requests()).list({}, { limit: 10 });
  assert.deepEqual(
    kept.map(({ outcome }) => outcome),
    ['accepted'],
  );
});

test('a later table loads what it needs before it is served', async (t) => {
  const { parts, loaded } = watchedParts();
  const service = await serveParts(t, { routes: { ci: {} } }, parts);
  await service.swap(routeTable(MARKED).table);
  await service.swap(routeTable({ routes: { ci: { capture: 'problems' } } }).table);
  assert.deepEqual(loaded, ['marks', 'keeper']);
});

test('a program without modules refuses what only they can do, and serves the rest', async (t) => {
  const service = await serveParts(t, { routes: { ci: { capture: 'all' } } }, []);
  await assert.rejects(service.requests(), /no module of this program keeps requests/);
  await assert.rejects(service.swap(routeTable(MARKED).table), {
    name: 'TableError',
    message: 'route "ci": no module of this program marks untrusted values',
  });
  const url = { kind: 'literal', value: 'postgres://localhost/h', scope: 'default' } as const;
  const store = { kind: 'postgres', url, listen: true, schema: 'h', key: null } as const;
  await assert.rejects(serveParts(t, { gateway: { store } }, []), {
    name: 'StoreRefused',
    message: 'gateway.store: no module of this program opens a postgres store',
  });
});

test('a service says at its start that there is no sandbox, and which paths of a plan open nothing', async (t) => {
  const sandbox: RuntimePart['sandbox'] = async () => () => ({
    run: () => Promise.resolve({ kind: 'spawn_failed', code: 'none', stderr: '' }),
    problem: () => Promise.resolve('run `apt-get install bubblewrap`'),
    closed: (plans) => plans.flatMap(({ read }) => read.map((path) => `read ${path}: is not there`)),
  });
  const parts = runtimeParts(MODULES).map((part) => (part.sandbox === null ? part : { ...part, sandbox }));
  const log = recordLog();
  const plan = { network: [], read: ['~/none'], write: [] };
  await (await serveParts(t, { gateway: { sandbox: plan } }, parts, log)).listen();
  const said = () =>
    log.lines.filter(({ message }) => / sandbox/.test(message)).map(({ level, fields }) => [level, fields]);
  await until(async () => said().length === 2);
  assert.deepEqual(said(), [
    ['warn', { reason: 'run `apt-get install bubblewrap`' }],
    ['warn', { path: 'read ~/none: is not there' }],
  ]);
});
