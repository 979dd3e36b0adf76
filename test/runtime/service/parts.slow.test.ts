/** Tests which modules a service loads: only those that its table needs. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { runtimeParts } from '../../../cli/base/module.ts';
import { compileText } from '../../../main/compiler.ts';
import { MODULES } from '../../../main/modules.ts';
import type { RuntimePart } from '../../../runtime/module.ts';
import type { Logger } from '../../../runtime/platform/log.ts';
import { createService } from '../../../runtime/service/service.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog, silentLog } from '../../helpers/log.ts';
import type { TableParts } from '../../helpers/route-table.ts';
import { routeTable, SECRET } from '../../helpers/route-table.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** The parts of the program's modules, and the names of the loaded ones. */
function watchedParts(): { readonly parts: readonly RuntimePart[]; readonly loaded: string[] } {
  const loaded: string[] = [];
  const watched = (name: string, part: unknown): unknown => {
    if (typeof part === 'function') return () => [loaded.push(name), part()][1];
    return typeof part === 'object' && part !== null
      ? Object.fromEntries(Object.entries(part).map(([key, of]) => [key, watched(name, of)]))
      : part;
  };
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

/** Each gateway has them; `changes` of two modules are for the changes of its store. */
const ALWAYS = ['metrics', 'limits', 'changes', 'changes'];

const MARKED: TableParts = { routes: { ci: { prompt: [{ kind: 'notice' }, { kind: 'dump', marked: true }] } } };

test('a minimal table on SQLite loads only what every gateway has, and rescue', async (t) => {
  const { parts, loaded } = watchedParts();
  const service = await serveParts(t, { routes: { ci: {} } }, parts);
  const { url } = await service.listen();
  const answer = await sendAgain(`${url}/webhooks/ci`, { method: 'POST', body: '{}', headers: signed('{}', SECRET) });
  assert.equal(answer.status, 202);
  await service.metrics();
  assert.deepEqual(loaded, [...ALWAYS, 'rescue']);
});

test('stop accepts a number of ms, and rejects other values', async (t) => {
  const service = await serveParts(t, { routes: { ci: {} } }, []);
  for (const drainMs of [Number.NaN, -1, Number.POSITIVE_INFINITY, '5', null] as number[])
    await assert.rejects(service.stop({ drainMs }), {
      name: 'TypeError',
      message: /\bdrainMs\b/,
    });
  assert.deepEqual(await service.stop({ drainMs: 0.5 }), { drained: true, abandoned: 0 });
});

test('the capture store is loaded before the first request to a route with capture', async (t) => {
  const { parts, loaded } = watchedParts();
  const service = await serveParts(t, { routes: { ci: { capture: 'all' } } }, parts);
  assert.deepEqual(loaded, [...ALWAYS, 'rescue', 'keeper']);
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
  assert.deepEqual(loaded, [...ALWAYS, 'rescue', 'marks', 'keeper']);
});

test('a program without modules rejects configurations that need them, and serves others', async (t) => {
  const service = await serveParts(t, { routes: { ci: { capture: 'all' } } }, []);
  await assert.rejects(service.requests());
  await assert.rejects(service.metrics(), /metrics need the module telemetry/);
  await assert.rejects(service.swap(routeTable(MARKED).table), {
    name: 'TableError',
    message: /^route "ci": /,
  });
  const status = { answer: false };
  await assert.rejects(service.swap(routeTable({ routes: { ci: { status } } }).table), {
    name: 'TableError',
    message: /^status_url /,
  });
  const url = { kind: 'literal', value: 'postgres://localhost/h', scope: 'default' } as const;
  const store = { kind: 'postgres', url, listen: true, schema: 'h', key: null } as const;
  await assert.rejects(serveParts(t, { gateway: { store } }, []), {
    name: 'StoreRefused',
    message: /^gateway\.store: .*\bpostgres\b/,
  });
});

test('a table is rejected if no module has the driver of a used target; an unused target is not enabled', async (t) => {
  const profileOf = (rest: string): string =>
    `platforms: { webhook: { enabled: true, secret: ${SECRET}, routes: { ci: { deliver: log } } }${rest} }`;
  const open = async (yaml: string, modules: readonly RuntimePart[]): Promise<void> => {
    const home = tempDir(t);
    const { table } = await compileText(yaml, { home, env: {} });
    assert.ok(table);
    const service = await createService({ table, home, log: silentLog }, modules);
    await service.stop({ drainMs: 0 });
  };
  const parts = runtimeParts(MODULES);
  const mail = 'smtp_host: mail.example.org, from: "a@example.org"';
  const told = `}\ngateway: { alerts: { deliver: github, deliver_extra: { repo: a/b, pr_number: "1" } }`;
  for (const [platforms, kind] of [
    [told, 'github_comment'],
    [`, email: { enabled: true, ${mail} }`, 'email'],
    [', gitlab: { enabled: true, token: a-token-of-a-project }', 'posts'],
    [', github: { enabled: true, command: gh }', 'github_comment'],
  ] as const) {
    await open(profileOf(platforms), parts);
    await assert.rejects(open(profileOf(platforms), []), {
      name: 'TableError',
      message: new RegExp(`driver "${kind}"`),
    });
  }
  // `gh` needs no entry: it is bound in every profile.
  await open(profileOf(''), []);
});

test('a service logs at its start that sandboxes do not work, and which paths cannot be opened', async (t) => {
  const sandbox: RuntimePart['sandbox'] = async () => ({
    keptFiles: () => [],
    open: () => ({
      run: () => Promise.resolve({ kind: 'spawn_failed', code: 'none', stderr: '' }),
      problem: () => Promise.resolve('run `apt-get install bubblewrap`'),
      closed: (plans) => plans.flatMap(({ read }) => read.map((path) => `read ${path}: does not exist`)),
    }),
  });
  const parts = runtimeParts(MODULES).map((part) => (part.sandbox === null ? part : { ...part, sandbox }));
  const log = recordLog();
  const plan = { network: [], read: ['~/none'], write: [] };
  await (await serveParts(t, { gateway: { sandbox: plan } }, parts, log)).listen();
  const said = () =>
    log.lines.filter(({ message }) => /\bsandbox/.test(message)).map(({ level, fields }) => [level, fields]);
  await until(async () => said().length === 2);
  assert.deepEqual(said(), [
    ['warn', { reason: 'run `apt-get install bubblewrap`' }],
    ['warn', { path: 'read ~/none: does not exist' }],
  ]);
});
