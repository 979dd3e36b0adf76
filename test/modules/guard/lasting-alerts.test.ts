/** Alerts of a lasting failure: its beginning, a daily summary, and its end. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alertTitle } from '../../../base/names.ts';
import { makeAttempt, makeStep, makeTake } from '../../helpers/dispatches.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';
import { HOUR, MINUTE, sentAlerts, watch } from './lasting-alerts.ts';

const RUNS_FAIL = alertTitle('run_failed');

describe('a lasting failure', () => {
  it('sends one message for 23 failures, a summary after a day, and one at the end, through restarts', async () => {
    const store = createMemoryStore();
    const gateway = await watch(store);
    const { clock } = gateway;
    const pass = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 10 * MINUTE) {
        gateway.fail();
        clock.jump(10 * MINUTE - 10_000);
        await clock.run(10_000);
        if (passed % HOUR === 0) await gateway.restart();
      }
    };
    for (let times = 0; times < 23; times++) gateway.fail();
    await clock.run(10_000);
    const begun = `hookwright: ${RUNS_FAIL}: route review\nthe token is not valid any more`;
    assert.deepEqual(await sentAlerts(store), [begun]);
    await pass(23 * HOUR);
    assert.deepEqual(await sentAlerts(store), [begun]);
    await pass(2 * HOUR);
    const [, summary, ...more] = await sentAlerts(store);
    assert.match(summary ?? '', /route review\n16\d \D*2026-01-01 00:00 UTC/);
    assert.deepEqual(more, []);
    gateway.succeed('other');
    await clock.run(MINUTE);
    assert.equal((await sentAlerts(store)).length, 2);
    gateway.succeed();
    gateway.succeed();
    await clock.run(MINUTE);
    assert.match((await sentAlerts(store))[2] ?? '', /route review\n1\d\d \D*15\d\d min$/);
    gateway.fail();
    await clock.run(10_000);
    assert.deepEqual((await sentAlerts(store)).slice(3), [begun]);
  });

  it('sends its end after its beginning, which waits for a target that fails, also through a restart', async () => {
    const store = createMemoryStore();
    const gateway = await watch(store);
    const { clock } = gateway;
    const attempt = async (outcome: 'retry' | 'ok'): Promise<void> => {
      const now = clock.now();
      const { attempts } = await store.write(makeTake(now, { attempts: 9 }));
      for (const { ref, index } of attempts) {
        const step = makeStep({ kind: 'delivery', index, outcome, next_at: outcome === 'ok' ? null : now + 1000 });
        await store.write(makeAttempt(ref, index, now, step));
      }
    };
    gateway.fail();
    await clock.run(1000);
    await attempt('retry');
    gateway.succeed();
    await clock.run(5 * MINUTE);
    assert.equal((await sentAlerts(store)).length, 1);
    await gateway.restart();
    gateway.succeed();
    await clock.run(5 * MINUTE);
    assert.equal((await sentAlerts(store)).length, 1);
    await attempt('ok');
    await clock.run(MINUTE);
    const [, end = '', ...more] = await sentAlerts(store);
    assert.match(end, /resolved.*route review/);
    assert.deepEqual(more, []);
  });

  it('sends separate alerts for separate routes', async () => {
    const store = createMemoryStore();
    const gateway = await watch(store);
    for (let times = 0; times < 5; times++) for (const route of ['a', 'b']) gateway.fail(route);
    await gateway.clock.run(10_000);
    gateway.succeed('b');
    await gateway.clock.run(10_000);
    assert.deepEqual(
      (await sentAlerts(store)).map((text) => text.split('\n', 1)[0]),
      ['a', 'b']
        .map((route) => `hookwright: ${RUNS_FAIL}: route ${route}`)
        .concat(`hookwright: resolved: ${RUNS_FAIL}: route b`),
    );
  });

  it('at many addresses sends alerts for a few of them, and one for all others', async () => {
    const store = createMemoryStore();
    const gateway = await watch(store);
    const { clock } = gateway;
    const firstLines = async () => (await sentAlerts(store)).map((text) => text.split('\n', 1)[0]?.slice(0, 80));
    gateway.deliver(`9\n\x1b[31m${'y'.repeat(9000)}`, 'no such chat');
    for (let n = 0; n < 300; n++) gateway.deliver(`c${n}`, 'the token is not valid any more');
    await clock.run(10_000);
    const [, ...others] = await firstLines();
    const [odd = ''] = await sentAlerts(store);
    assert.match(odd, /^hookwright: .*\n```\ntelegram chat_id=9\ufffd\ufffd\[31my+/);
    assert.ok((await sentAlerts(store)).every((text) => text.length < 600));
    const begun = `hookwright: ${alertTitle('delivery_dead')}: telegram`;
    const rest = `${begun}, other addresses`;
    assert.deepEqual(others, [...[0, 1, 2, 3].map((n) => `${begun} chat_id=c${n}`), rest]);
    gateway.deliver('c0', null);
    gateway.deliver('c77', null);
    await clock.run(10_000);
    const over = (text: string) => text.replace(': ', ': resolved: ');
    assert.deepEqual((await firstLines()).slice(6), [over(`${begun} chat_id=c0`)]);
    clock.jump(HOUR);
    gateway.deliver('c77', null);
    await clock.run(10_000);
    assert.deepEqual((await firstLines()).slice(7), [over(rest)]);
  });
});

describe('a rejected configuration', () => {
  const firstLines = async (store: Parameters<typeof sentAlerts>[0]) =>
    (await sentAlerts(store)).map((text) => text.split('\n', 1)[0]);
  const title = alertTitle('config_rejected');

  it('raises an alert after a minute, with its position, and one at the end', async () => {
    const store = createMemoryStore();
    const gateway = await watch(store);
    await gateway.clock.run(10_000);
    gateway.reject('config.yaml:3:5: no such key');
    await gateway.clock.run(MINUTE - 10_000);
    assert.deepEqual(await sentAlerts(store), []);
    await gateway.clock.run(20_000);
    assert.deepEqual(await sentAlerts(store), [
      `hookwright: ${title}: the configuration\n\`\`\`\nconfig.yaml:3:5: no such key\n\`\`\``,
    ]);
    await gateway.clock.run(3 * HOUR);
    gateway.reject(null);
    await gateway.clock.run(10_000);
    const lines = await firstLines(store);
    assert.deepEqual(lines.slice(1), [`hookwright: resolved: ${title}: the configuration`]);
  });

  it('raises none for a file that was broken for less than a minute', async () => {
    const store = createMemoryStore();
    const gateway = await watch(store);
    await gateway.clock.run(10_000);
    for (let saves = 0; saves < 5; saves++) {
      gateway.reject('config.yaml:3:5: no such key');
      await gateway.clock.run(MINUTE - 10_000);
      gateway.reject(null);
      await gateway.clock.run(10_000);
    }
    assert.deepEqual(await sentAlerts(store), []);
  });

  it('raises it immediately at a start, once for several starts, and ends it after a start that serves it', async () => {
    const store = createMemoryStore();
    const gateway = await watch(store);
    await gateway.clock.run(10_000);
    gateway.reject('config.yaml:3:5: no such key');
    for (let starts = 0; starts < 3; starts++) {
      await gateway.restart();
      await gateway.clock.run(1);
      assert.deepEqual(await firstLines(store), [`hookwright: ${title}: the configuration`]);
    }
    gateway.reject(null);
    await gateway.restart();
    await gateway.clock.run(10_000);
    assert.equal((await sentAlerts(store)).length, 2);
  });
});
