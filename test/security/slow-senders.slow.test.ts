/**
 * Tests thousands of slow senders without a secret, against a gateway with default limits: a signed event still gets its
 * response.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../helpers/at-end.ts';
import { freePort } from '../helpers/free-port.ts';
import { startGatewayProcess } from '../helpers/gateway-process.ts';
import { nodeArgv } from '../helpers/node-argv.ts';
import { isProxyHere, startPlainNginx } from '../helpers/proxies.ts';
import { SECRET } from '../helpers/route-table.ts';
import { signed } from '../helpers/serve.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import type { SlowSenders } from './slow-senders/senders.ts';

/** `SLOW_SENDERS=2000` attacks the default limits, for longer. */
const FULL = Number(process.env.SLOW_SENDERS ?? 0);
const COUNT = FULL || 600;
const SECONDS = FULL > 0 ? 20 : 4;
const LIMITS = FULL > 0 ? {} : { max_connections: 300 };
const EVERY_MS = 50;
/** Timeout of a sender; a busy machine needs longer. */
const PATIENCE_MS = FULL > 0 ? 10_000 : 120_000;

const SIGNATURES = { malformed: 'sha256=00', wrong: `sha256=${'0'.repeat(64)}` } as const;

interface Attack {
  readonly signature: keyof typeof SIGNATURES;
  readonly addresses: number;
  readonly proxy: boolean;
}

const ATTACKS: readonly Attack[] = (['malformed', 'wrong'] as const).flatMap((signature) =>
  [1, 50].flatMap((addresses) => [false, true].map((proxy) => ({ signature, addresses, proxy }))),
);

describe('thousands of slow senders', () => {
  for (const attack of ATTACKS) {
    const { signature, addresses, proxy } = attack;
    const name = `a ${signature} signature, ${addresses} addresses, ${proxy ? 'behind nginx' : 'without a proxy'}`;
    test(name, { skip: proxy && !isProxyHere('nginx') && process.env.CI !== 'true' }, (t) => endure(t, attack));
  }
});

async function endure(t: TestContext, { signature, addresses, proxy }: Attack): Promise<void> {
  const home = tempDir(t);
  const port = await freePort();
  const webhook = {
    enabled: true,
    port,
    secret: SECRET,
    rate_limit: 100_000,
    ...LIMITS,
    routes: { ci: { prompt: 'x' } },
  };
  writeFileSync(`${home}/config.yaml`, JSON.stringify({ platforms: { webhook } }), { mode: 0o600 });
  const gateway = await startGatewayProcess({ home });
  atEnd(t, () => gateway.kill());
  const to = proxy ? await startPlainNginx(t, port) : port;
  const calm = await measure(to, 1);
  await startSenders(t, {
    ...{ port: to, path: '/webhooks/ci', count: COUNT, addresses, bytesPerSecond: 600, pauseMs: 50 },
    headers: { 'x-hub-signature-256': SIGNATURES[signature], 'content-type': 'application/json' },
  });
  await sleep(COUNT + 1000);
  const { all, accepted, p99 } = await measure(to, SECONDS);
  const others = all.filter(({ status }) => status !== 202).map(({ status }) => status);
  t.diagnostic(`${accepted} of ${all.length} are taken, p99 ${p99.toFixed(0)} ms; ${calm.p99.toFixed(0)} ms before`);
  assert.ok(accepted >= 0.99 * all.length, `${accepted} of ${all.length} are taken; others: ${others}`);
}

interface Measured {
  readonly all: readonly Answer[];
  readonly accepted: number;
  /** In ms, of those that are accepted. */
  readonly p99: number;
}

async function measure(port: number, seconds: number): Promise<Measured> {
  const answers: Promise<Answer>[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(EVERY_MS)) {
    answers.push(post(port, answers.length));
  }
  const all = await Promise.all(answers);
  const times = all.flatMap(({ status, ms }) => (status === 202 ? [ms] : [])).sort((a, b) => a - b);
  return { all, accepted: times.length, p99: times[Math.floor(times.length * 0.99)] ?? Number.POSITIVE_INFINITY };
}

async function startSenders(t: TestContext, plan: SlowSenders): Promise<void> {
  const [program = '', ...argv] = nodeArgv(new URL('./slow-senders/senders.js', import.meta.url));
  const child = spawn(program, [...argv, JSON.stringify(plan)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  atEnd(t, async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  });
}

interface Answer {
  /** 0: the connection was closed without a response. */
  readonly status: number;
  readonly ms: number;
}

/** A signed event over its own connection. */
function post(port: number, number: number): Promise<Answer> {
  const body = JSON.stringify({ number });
  const headers = { ...signed(body), 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const since = performance.now();
  return new Promise((resolve) => {
    const end = (status: number): void => resolve({ status, ms: performance.now() - since });
    const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/webhooks/ci', headers, agent: false });
    sent.setTimeout(PATIENCE_MS, () => sent.destroy());
    sent.once('response', (answer) => {
      answer.resume();
      end(answer.statusCode ?? 0);
    });
    sent.once('error', () => end(0));
    sent.end(body);
  });
}
