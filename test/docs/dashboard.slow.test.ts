/** The shipped dashboard over a real Prometheus that scrapes a real gateway. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { dashboard } from '../helpers/dashboard.ts';
import { freePort } from '../helpers/free-port.ts';
import { until } from '../helpers/gateway.ts';
import { createSender, startGatewayProcess } from '../helpers/gateway-process.ts';
import { skipWithout } from '../helpers/skip-without.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const hasPrometheus = spawnSync('prometheus', ['--version']).error === undefined;
const skip = skipWithout(hasPrometheus, 'prometheus', 'prometheus');

const SECRET = 'b4f0c9d27e1a4d3fb1c5';

/** Routes whose events are accepted, ignored, refused, fail as a run, and fail as a delivery. */
const config = (port: number): string => `
platforms:
  webhook:
    enabled: true
    port: 0
    secret: ${SECRET}
    routes:
      ok: { prompt: "{a}", deliver: log }
      picky: { prompt: "{a}", deliver: log, events: [never] }
      broken: { prompt: fail, deliver: log }
      away: { agent: none, prompt: "{a}", deliver: slack, deliver_extra: { chat_id: C024BE91L } }
  slack: { enabled: true, token: xoxb-2938-9a8f-c0ffee, api_base: "http://127.0.0.1:9" }
gateway: { console: { port: ${port} }, capture_per_second: 1 }
agent: { command: [grep, -v, fail], confined: it only repeats its input }
`;

/** Scrapes the addresses every second. @returns the URL of its API */
async function startPrometheus(t: TestContext, targets: readonly string[]): Promise<string> {
  const folder = tempDir(t);
  const file = join(folder, 'prometheus.yml');
  const scrape = [{ job_name: 'hookwright', static_configs: [{ targets }] }];
  writeFileSync(file, JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: scrape }));
  const listen = `127.0.0.1:${await freePort()}`;
  const flags = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${listen}`];
  const child = spawn('prometheus', flags, { stdio: 'ignore' });
  t.after(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return `http://${listen}`;
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

async function query(api: string, expr: string): Promise<readonly Sample[]> {
  const response = await fetch(`${api}/api/v1/query?query=${encodeURIComponent(expr)}`);
  const { status, error, data } = (await response.json()) as {
    readonly status: string;
    readonly error?: string;
    readonly data?: { readonly result: readonly Sample[] };
  };
  assert.equal(status, 'success', `${expr}: ${error}`);
  return data?.result ?? [];
}

test('each query of the dashboard returns what a gateway exports', { skip, timeout: 900_000 }, async (t) => {
  const home = tempDir(t);
  const port = await freePort();
  writeFileSync(join(home, 'config.yaml'), config(port));
  const gateway = await startGatewayProcess({ home });
  t.after(gateway.kill);
  const send = createSender(SECRET);
  const wrong = createSender('another');
  // Two targets that export the same store, as two gateways do that share one.
  const api = await startPrometheus(t, [`127.0.0.1:${port}`, `localhost:${port}`]);
  await until(() => fetch(`${api}/-/ready`).then(({ ok }) => ok, isRefused));
  // What Grafana fills in.
  const fill = (expr: string): string =>
    expr.replaceAll(/\$(?:instance|route)/g, '.*').replaceAll('$__rate_interval', '30s');
  const exprs = dashboard().flatMap((panel) => panel.exprs.map(fill));
  assert.ok(exprs.length > 20);
  const missing = new Set(exprs);
  const end = performance.now() + 300_000;
  // A rate wants two scrapes with what is counted in them.
  await until(async () => {
    for (const route of ['ok', 'ok', 'picky', 'broken', 'away'])
      await send(gateway.url, route, `${route}-${Math.random()}`, { a: 1 });
    await wrong(gateway.url, 'ok', 'x', { a: 1 });
    for (const expr of missing) if ((await query(api, expr)).length > 0) missing.delete(expr);
    return missing.size === 0 || performance.now() > end;
  });
  assert.deepEqual([...missing], []);
  const shown = (title: string): string => fill(dashboard().find((panel) => panel.title === title)?.exprs[0] ?? '');
  const total = async (expr: string): Promise<number> =>
    (await query(api, expr)).reduce((sum, { value }) => sum + Number(value[1]), 0);
  const dead = 'hookwright_dispatches{state="dead"}';
  await until(async () => {
    const [each, both] = [await total(`${dead} and on (instance) up{instance=~"localhost.*"}`), await total(dead)];
    return each > 0 && both === 2 * each && (await total(shown('Dead deliveries'))) === each;
  });
});

/** Nothing listens yet. */
function isRefused(error: unknown): false {
  if (error instanceof TypeError) return false;
  throw error;
}
