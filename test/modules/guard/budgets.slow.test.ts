/** Budgets from the view of a sender and an operator: a served configuration with a program as its agent. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { alertTitle } from '../../../base/names.ts';
import { compileText } from '../../../main/compiler.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import type { RunProcess } from '../../../runtime/platform/process/run-process.ts';
import type { OperatedService } from '../../../runtime/service/options.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { deferred } from '../../helpers/dispatch-bench.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { until } from '../../helpers/gateway.ts';
import { createService } from '../../helpers/operated-service.ts';
import { handleAgain } from '../../helpers/send-again.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-secret-for-budgets-123456';
const NOON = Date.UTC(2026, 2, 28, 12);

const config = (parts: { gateway?: string; agent?: string; route?: string; job?: string }): string => `
gateway: { timezone: Europe/Berlin, capture: all${parts.gateway ?? ''} }
agent: { command: [agent], answer_path: text, usage_paths: { input: tokens, cost: usd }${parts.agent ?? ''} }
jobs:
  digest: { schedule: "0 8 1 1 *", prompt: Digest, deliver: log${parts.job ?? ''} }
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
      one: { prompt: "{n}", deliver: log${parts.route ?? ''} }
      two: { prompt: "{n}", deliver: log }
      fires: { prompt: "{n}", cron_job: digest }
      says: { prompt: "{n}", deliver: log, agent: none }
`;

interface Served {
  service: OperatedService;
  readonly clock: FakeClock;
  readonly runs: string[];
  restart(changed?: string): Promise<void>;
  /** Sends events one after the other and returns their outcomes. */
  send(route: string, ...ids: string[]): Promise<string[]>;
  settle(): Promise<void>;
}

/** @param gate runs end only after it resolves */
async function serve(t: TestContext, yaml: string, usd = 0, gate: Promise<void> = Promise.resolve()): Promise<Served> {
  const home = tempDir(t);
  const clock = new FakeClock(NOON);
  const runs: string[] = [];
  const run: RunProcess = async ({ stdin }) => {
    runs.push(String(stdin));
    await gate;
    const stdout = Buffer.from(JSON.stringify({ text: 'yes', tokens: 10, usd }));
    return { kind: 'exit', code: 0, signal: null, stdout, stderr: '' };
  };
  const open = async (text: string) => {
    const { table, diagnostics } = await compileText(text, { home, env: {} });
    assert.ok(table !== null, diagnostics.map(({ message }) => message).join('\n'));
    return createService({ table, home, env: { PATH: '/usr/bin' }, log: silentLog, clock, run });
  };
  const served: Served = {
    service: await open(yaml),
    ...{ clock, runs },
    async restart(changed = yaml) {
      await served.service.stop({ drainMs: 0 });
      served.service = await open(changed);
    },
    async send(route, ...ids) {
      const outcomes: string[] = [];
      for (const id of ids) {
        const body = JSON.stringify({ n: id });
        const signature = createHmac('sha256', SECRET).update(body).digest('hex');
        const headers = { 'content-type': 'application/json', 'x-webhook-signature': signature, 'x-request-id': id };
        const answer = await handleAgain(
          served.service,
          new Request(`http://127.0.0.1/webhooks/${route}`, { method: 'POST', body, headers }),
        );
        const { status, reason } = (await answer.json()) as { status: string; reason?: string };
        outcomes.push(`${answer.status} ${status}${reason === undefined ? '' : ` ${reason}`}`);
      }
      return outcomes;
    },
    async settle() {
      await until(async () => {
        const { oldest_open_at } = await served.service.store.read({ kind: 'overview', now: clock.now() });
        if (oldest_open_at === null) return true;
        await clock.run(1000);
        return false;
      });
    },
  };
  atEnd(t, () => served.service.stop({ drainMs: 0 }));
  return served;
}

/** The sent alerts, oldest first. */
async function alerts({ service, clock }: Served, count = 0): Promise<readonly string[]> {
  return until(async () => {
    const found = await sentAlerts(service);
    if (found.length >= count) return found;
    await clock.run(1000);
    return null;
  });
}

async function sentAlerts(service: OperatedService): Promise<readonly string[]> {
  const rows = await service.store.read({ kind: 'list', filter: { limit: 100 } });
  const own = rows.filter(({ event }) => event === 'alert').reverse();
  return Promise.all(
    own.map(async ({ ref }) => (await service.store.read({ kind: 'load', ref }))?.dispatch.prompt ?? ''),
  );
}

const ACCEPTED = '202 accepted';
const OVER = '200 ignored budget';

describe('a budget', () => {
  it('of a route ignores further events, over a restart, until the day ends in its time zone', async (t) => {
    const served = await serve(t, config({ route: ', budget: { runs: 2, per: day }' }));
    assert.deepEqual(await served.send('one', 'a', 'a', 'b'), [ACCEPTED, '200 duplicate', ACCEPTED]);
    await served.restart();
    assert.deepEqual(await served.send('one', 'c', 'a', 'c'), [OVER, '200 duplicate', OVER]);
    assert.deepEqual(await served.send('two', 'c'), [ACCEPTED]);
    // Midnight in Berlin is one hour before midnight UTC; the next day has 23 hours.
    await served.clock.run(11 * 3_600_000 - 1000);
    assert.deepEqual(await served.send('one', 'd'), [OVER]);
    await served.clock.run(1000);
    assert.deepEqual(await served.send('one', 'd', 'e', 'f'), [ACCEPTED, ACCEPTED, OVER]);
    await served.clock.run(23 * 3_600_000 - 1000);
    assert.deepEqual(await served.send('one', 'g'), [OVER]);
    await served.clock.run(1000);
    assert.deepEqual(await served.send('one', 'g'), [ACCEPTED]);
  });

  it('of the gateway counts all runs, but no messages', async (t) => {
    const served = await serve(t, config({ gateway: ', budget: { runs: 2, per: hour }' }));
    assert.deepEqual(await served.send('says', 'a', 'b', 'c'), [ACCEPTED, ACCEPTED, ACCEPTED]);
    assert.deepEqual(await served.send('one', 'a'), [ACCEPTED]);
    assert.deepEqual(await served.send('two', 'b', 'c'), [ACCEPTED, OVER]);
    assert.deepEqual(await served.send('fires', 'd'), [OVER]);
    assert.deepEqual(await served.send('says', 'd'), [ACCEPTED]);
  });

  it('of a job applies to events that run it', async (t) => {
    const served = await serve(t, config({ job: ', budget: { runs: 1, per: hour }' }));
    assert.deepEqual(await served.send('fires', 'a'), [ACCEPTED]);
    await served.settle();
    assert.deepEqual(await served.send('fires', 'b', 'b'), [OVER, OVER]);
    assert.deepEqual(await served.send('one', 'c'), [ACCEPTED]);
  });

  it('of an agent that is used up by cost skips accepted events and ignores new ones', async (t) => {
    const { promise, resolve } = deferred<void>();
    const served = await serve(t, config({ agent: ', budget: { cost: 5, per: hour }' }), 2, promise);
    const ids = ['a', 'b', 'c', 'd', 'e', 'g'];
    assert.deepEqual(
      await served.send('one', ...ids),
      ids.map(() => ACCEPTED),
    );
    await until(async () => served.runs.length === 4);
    resolve();
    await served.settle();
    assert.equal(served.runs.length, 4, 'those that run at once may pass it');
    const list = await served.service.store.read({ kind: 'list', filter: { limit: 9, state: 'skipped' } });
    assert.deepEqual(
      list.map(({ reason }) => reason),
      ['budget', 'budget'],
    );
    assert.deepEqual(await served.send('two', 'f'), [OVER]);
  });

  it('raises one alert per window, over a restart, and resolves it when the window ends', async (t) => {
    const parts = { gateway: ', alerts: { deliver: local }', route: ', budget: { runs: 1, per: hour }' };
    const served = await serve(t, config(parts));
    assert.deepEqual(await served.send('one', 'a', 'b', 'c', 'd'), [ACCEPTED, OVER, OVER, OVER]);
    const title = `${alertTitle('budget')}: route one per hour, until 2026-03-28 13:00 UTC`;
    const begun = [
      `hookwright: ${title}\nlimit of 1 run reached; new events are ignored until then and can be replayed`,
    ];
    assert.deepEqual(await alerts(served, 1), begun);
    await served.restart();
    assert.deepEqual(await served.send('one', 'e'), [OVER]);
    assert.deepEqual(await alerts(served), begun);
    await served.clock.run(3_600_000);
    assert.equal((await alerts(served, 2))[1], `hookwright: resolved: ${title}\n4 times in 60 min`);
    assert.deepEqual(await served.send('one', 'f', 'g'), [ACCEPTED, OVER]);
    assert.equal((await alerts(served, 3)).length, 3);
  });

  for (const [of, parts] of [
    ['route', (runs: number) => ({ route: `, budget: { runs: ${runs}, per: hour }` })],
    ['gateway', (runs: number) => ({ gateway: `, budget: { runs: ${runs}, per: hour }` })],
  ] as const) {
    it(`of a ${of} ends its alert when it is raised, but not while it is still used up`, async (t) => {
      const yaml = (runs: number): string => {
        const { gateway = '', ...more }: { readonly gateway?: string; readonly route?: string } = parts(runs);
        return config({ ...more, gateway: `, alerts: { deliver: local }${gateway}` });
      };
      const served = await serve(t, yaml(2));
      await served.send('one', 'a', 'b', 'c');
      assert.equal((await alerts(served, 1)).length, 1);
      await served.restart(yaml(1));
      await served.clock.run(20_000);
      assert.equal((await alerts(served)).length, 1);
      await served.restart(yaml(3));
      assert.match((await alerts(served, 2))[1] ?? '', /: resolved: /);
      assert.deepEqual(await served.send('one', 'd', 'e'), [ACCEPTED, OVER]);
      assert.equal((await alerts(served, 3)).length, 3);
    });
  }
});
