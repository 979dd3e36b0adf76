/** Tests `explain` and `diff` if the state of a gateway decides, or it would not start. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { stringify } from 'yaml';
import type { Explanation } from '../../../../schemas/generated/types.ts';
import { runInProcess, startInProcess } from '../../../helpers/cli.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

interface CapturedAnswer {
  readonly id: string;
  readonly route: string;
  readonly status: number;
  readonly outcome: string;
}

/** The agent of `full` runs until the file exists. @param more further keys of each route */
const config = (more: object): string =>
  stringify({
    platforms: {
      webhook: {
        enabled: true,
        secret: 'INSECURE_NO_AUTH',
        routes: {
          few: { prompt: 'x {n}', rate_limit: 1, agent: 'none', ...more },
          full: { prompt: 'x {n}', agent: 'waits', ...more },
          closed: { prompt: 'x {n}', enabled: false },
        },
      },
    },
    agents: { waits: { command: ['sh', '-c', 'until [ -e "$HOOKWRIGHT_HOME/go" ]; do sleep 0.05; done; echo ok'] } },
    gateway: { capture: 'all', capture_per_second: 1000, max_queued_runs: 1, max_concurrent_runs: 1, drain_seconds: 0 },
  });

/** Outcomes of requests that are rejected before their body is read. */
const WITHOUT_BODY: readonly string[] = ['route_disabled', 'unknown_route'];

describe('requests that the state of a gateway rejects', () => {
  it('are evaluated as if there were room, or the reason why they cannot be is printed', async (t) => {
    const home = tempDir(t);
    const gateway = await startGateway(t, { home, config: config({}) });
    const post = async (route: string): Promise<string> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${gateway.url}/webhooks/${route}`, { method: 'POST', headers, body: '{"n":1}' });
      const { status, code } = (await answer.json()) as { status: string; code?: string };
      return `${answer.status} ${code ?? status}`;
    };
    assert.deepEqual([await post('few'), await post('few')], ['202 accepted', '429 rate_limited']);
    assert.equal(await post('closed'), '403 route_disabled');
    assert.equal(await post('nosuch'), '404 unknown_route');
    await until(async () => (await post('full')) === '503 overloaded');

    // The gateway answered these because of its load. A single event would be accepted.
    const said = async (...argv: string[]): Promise<Pick<Explanation, 'status' | 'outcome' | 'taken'>> => {
      const { stdout, stderr } = await gateway.cli('explain', ...argv, '--json');
      assert.notEqual(stdout, '', stderr);
      const { status, outcome, taken } = JSON.parse(stdout) as Explanation;
      return { status, outcome, taken };
    };
    const accepted = { status: 202, outcome: 'accepted', taken: true };
    for (const route of ['few', 'full']) assert.deepEqual(await said(route, '--payload', '{"n":1}'), accepted, route);
    const disabled = { status: 403, outcome: 'route_disabled', taken: false };
    assert.deepEqual(await said('closed', '--payload', '{"n":1}'), disabled);
    const unknown = await gateway.cli('explain', 'nosuch', '--payload', '{"n":1}');
    assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
    assert.match(unknown.stderr, /nosuch/);

    const captured = JSON.parse((await gateway.cli('requests', 'list', '--json')).stdout) as CapturedAnswer[];
    const outcomes = new Set(captured.map(({ outcome }) => outcome));
    assert.deepEqual(outcomes, new Set(['accepted', 'rate_limited', 'route_disabled', 'overloaded', 'unknown_route']));
    for (const { id, outcome, status } of captured) {
      const hasBody = !WITHOUT_BODY.includes(outcome);
      if (hasBody) assert.deepEqual(await said('--request', id), accepted, outcome);
      else {
        const { code, stderr } = await gateway.cli('explain', '--request', id);
        assert.equal(code, 1);
        assert(stderr.includes(`${status} ${outcome}`), stderr);
      }
    }
    const withBody = captured.filter(({ outcome }) => !WITHOUT_BODY.includes(outcome)).length;
    const diff = async (more: object) => {
      writeFileSync(join(home, 'new.yaml'), config(more), { mode: 0o600 });
      const { stdout } = await gateway.cli('diff', 'config.yaml', 'new.yaml', '--requests', '1000', '--json');
      const { same, lost, changed, unjudged } = (JSON.parse(stdout) as { requests: Record<string, unknown> }).requests;
      return { same, lost, changed, unjudged };
    };
    const unjudged = { no_body: 1, unsigned: 0, unknown_route: 1, duplicate: 0 };
    assert.deepEqual(await diff({}), { same: withBody, lost: 0, changed: 0, unjudged });
    assert.deepEqual(await diff({ enabled: false }), { same: 0, lost: withBody, changed: 0, unjudged });
    writeFileSync(join(home, 'go'), '');
  });
});

const ROUTES = { one: { prompt: '{a}', secret: 'env:ONE' }, two: { prompt: '{a}', secret: 'a-secret-of-its-own' } };

/** Keys of `webhook`, the environment, and the expected message; null: it starts. It was compiled elsewhere, without secrets. */
const STARTS: readonly (readonly [name: string, webhook: object, env: NodeJS.ProcessEnv, RegExp | null])[] = [
  ['as it should be', { routes: ROUTES }, { ONE: 'the-secret-of-one' }, null],
  ['webhooks off', { enabled: false, routes: ROUTES }, { ONE: 'the-secret-of-one' }, /platforms\.webhook\.enabled/],
  ['a missing secret', { routes: ROUTES }, {}, /"one".*ONE/],
  [
    'open to the network',
    { host: '0.0.0.0', routes: ROUTES },
    { ONE: 'INSECURE_NO_AUTH' },
    /insecure-bind|INSECURE_NO_AUTH/,
  ],
];

describe('`explain` first prints the reasons why `serve` would not start', () => {
  for (const [name, webhook, env, expected] of STARTS) {
    it(name, async (t) => {
      const home = tempDir(t);
      const text = stringify({ platforms: { webhook: { enabled: true, port: 0, ...webhook } } });
      writeFileSync(join(home, 'config.yaml'), text, { mode: 0o600 });
      const compiled = await runInProcess(['compile'], { home });
      assert.equal(compiled.code, 0, compiled.stderr);
      const found = await runInProcess(['explain', 'two', '--payload', '{"a":1}'], { home, env });
      const said = (found.stdout + found.stderr).split('\n').filter((line) => /^`serve`|error/.test(line));
      const running = startInProcess(['serve', '--table', join(home, 'build')], { home, env });
      if (expected === null) {
        await until(async () => running.stderr().includes('"url":'));
        running.signal('SIGTERM');
        assert.deepEqual([(await running.done).code, found.code, said], [0, 0, []]);
        return;
      }
      const served = await running.done;
      assert.notEqual(served.code, 0);
      assert.match(served.stderr, expected);
      assert.match(said.join('\n'), expected);
      assert.equal(found.code, 1);
    });
  }
});
