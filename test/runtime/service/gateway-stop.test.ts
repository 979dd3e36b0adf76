/** Tests a graceful stop: new events get 503, current ones are answered, waiting work is drained, then all is closed. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../helpers/gateway.ts';
import { serve } from '../../helpers/serve.ts';

/** A promise that is settled by the test. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test('while draining, events get 503, and health still responds', async (t) => {
  const { opened, open } = gate();
  const drain = async () => {
    await opened;
    return { abandoned: 0 };
  };
  const { gateway, post, url, dispatcher } = await serve(t, { routes: { ci: {} } }, { drain });
  const stopping = gateway.stop(20);
  const refused = await post('/webhooks/ci', {});
  assert.equal(refused.status, 503);
  assert.deepEqual(refused.body, { status: 'error', error: 'The server is shutting down', code: 'shutting_down' });
  assert.equal(refused.headers.get('retry-after'), '20');
  assert.equal(refused.headers.get('connection'), 'close');
  assert.equal((await fetch(`${url}/health`)).status, 200);
  assert.equal(gateway.status().state, 'draining');
  open();
  assert.deepEqual(await stopping, { drained: true, abandoned: 0 });
  assert.equal(dispatcher.handed.length, 0);
  await assert.rejects(fetch(`${url}/health`));
  assert.equal(gateway.status().url, null);
});

test('a current event is answered before the drain starts', async (t) => {
  const order: string[] = [];
  const drain = async () => {
    order.push('drain');
    return { abandoned: 0 };
  };
  const { gateway, post, dispatcher } = await serve(t, { routes: { ci: {} } }, { drain });
  const { opened, open } = gate();
  dispatcher.gate = opened;
  const event = post('/webhooks/ci', {}).then(({ status }) => order.push(String(status)));
  await until(async () => dispatcher.arrived === 1);
  const stopping = gateway.stop(5);
  await until(async () => gateway.status().state === 'draining');
  open();
  await Promise.all([stopping, event]);
  assert.deepEqual(order.sort(), ['202', 'drain']);
  assert.equal(dispatcher.handed.length, 1);
});

test('unfinished work is reported, and the drain gets the remaining time', async (t) => {
  const times: number[] = [];
  const drain = async (timeoutMs: number) => {
    times.push(timeoutMs);
    return { abandoned: 3 };
  };
  const { gateway } = await serve(t, { gateway: { drain_seconds: 7 } }, { drain });
  assert.deepEqual(await gateway.stop(), { drained: false, abandoned: 3 });
  assert(times[0] !== undefined && times[0] > 6000 && times[0] <= 7000);
});

test('stopping twice has the effect of stopping once', async (t) => {
  let drains = 0;
  const drain = async () => {
    drains++;
    return { abandoned: 0 };
  };
  const { gateway } = await serve(t, {}, { drain });
  await Promise.all([gateway.stop(1), gateway.stop(1)]);
  await gateway.stop(1);
  assert.equal(drains, 1);
});

test('idle and half-open connections do not delay a stop', async (t) => {
  const { gateway, port, url } = await serve(t, { routes: { ci: {} } });
  await fetch(`${url}/health`);
  const half = connect(port, '127.0.0.1');
  half.on('error', () => {});
  half.write('POST /webhooks/ci HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
  await sleep(30);
  const started = performance.now();
  await gateway.stop(0);
  // Long before the timeout of the slow client.
  assert(performance.now() - started < 30_000);
});

test('a script that outlasts the stop is killed with it', async (t) => {
  const script = { path: 'hang.sh', interpreter: 'bash', timeout_seconds: 60 } as const;
  const { gateway, post, home, dispatcher } = await serve(t, { routes: { ci: { script } } });
  mkdirSync(join(home, 'scripts'));
  const started = join(home, 'started');
  writeFileSync(join(home, 'scripts', 'hang.sh'), `touch '${started}'; sleep 30; echo x`);
  const event = post('/webhooks/ci', {});
  await until(async () => existsSync(started));
  await gateway.stop(0);
  const { status, body } = await event;
  assert.equal(status, 503);
  assert.equal(body.code, 'overloaded');
  assert.equal(dispatcher.handed.length, 0);
});
