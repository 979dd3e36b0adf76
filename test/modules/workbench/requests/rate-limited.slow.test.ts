/** Requests beyond a rate limit: what uses up the limit, what is captured of the others, and where an operator sees it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { startGateway } from '../../../helpers/gateway.ts';
import { signed } from '../../../helpers/serve.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'the-secret-of-a-route-1';
const CONFIG = `
gateway: { alerts: { deliver: local } }
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
      talk:
        prompt: "{text}"
        agent: none
        deliver: log
        rate_limit: 3
        events: [said]
        filters: [{ not: { field: kind, in: [noise] } }]
`;

async function serve(t: TestContext) {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const post = async (payload: object, headers: Record<string, string>) => {
    const body = JSON.stringify(payload);
    const own = { ...signed(body, SECRET), 'content-type': 'application/json', 'x-github-event': 'said', ...headers };
    const response = await fetch(`${gateway.url}/webhooks/talk`, { method: 'POST', body, headers: own });
    const { status, reason, code } = (await response.json()) as Record<string, string>;
    return `${response.status} ${reason ?? code ?? status}`;
  };
  let sent = 0;
  const say = (text: string, id = `d${++sent}`) => post({ text }, { 'x-request-id': id });
  const ok = async (...args: readonly string[]): Promise<string> => (await gateway.cli(...args)).stdout;
  return { ...gateway, post, say, ok };
}

describe('a slot of the rate limit', () => {
  it('is not used up by repeats, ignored events, strangers and broken bodies beyond the first', async (t) => {
    const { post, say } = await serve(t);
    assert.equal(await say('one', 'id-1'), '202 accepted');
    for (let n = 0; n < 5; n++) {
      assert.equal(await say('one', 'id-1'), '200 duplicate');
      assert.equal(await post({ kind: 'noise' }, { 'x-request-id': `noise-${n}` }), '200 filter');
      assert.equal(await post({ text: 'x' }, { 'x-request-id': `other-${n}`, 'x-github-event': 'other' }), '200 event');
      assert.match(await post({ text: 'x' }, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }), /^401 /);
    }
    assert.deepEqual([await say('two'), await say('three')], ['202 accepted', '202 accepted']);
    assert.equal(await say('four'), '429 rate_limited');
    // The check comes first, whatever the request is.
    assert.equal(await say('one', 'id-1'), '429 rate_limited');
    assert.match(await post({ text: 'x' }, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }), /^429 /);
  });
});

describe('a full rate limit', () => {
  it('captures twenty refused events with their bodies, also within a second, whatever strangers send', async (t) => {
    const { post, say, ok } = await serve(t);
    for (let n = 0; n < 3; n++) await say('fits');
    for (let n = 0; n < 40; n++)
      assert.equal(await post({ text: 'stranger' }, { 'x-hub-signature-256': '' }), '429 rate_limited');
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => say(`lost ${n}`)));
    assert.deepEqual(new Set(answers), new Set(['429 rate_limited']));
    const list = ['requests', 'list', '--outcome', 'rate_limited', '--limit', '100', '--json'];
    const listed = JSON.parse(await ok(...list)) as {
      readonly id: string;
      readonly verified: boolean;
    }[];
    const verified = listed.filter((one) => one.verified);
    assert.equal(verified.length, 20);
    const last = JSON.parse(await ok('requests', 'show', verified.at(-1)?.id ?? '', '--json', '--body'));
    assert.match(String(last.body), /lost \d/);
    // Replays take no slot, however many.
    for (const { id } of verified.slice(0, 4)) assert.match(await ok('requests', 'replay', id), /202/);
  });

  it('is an alert, and a line in the status and in doctor', async (t) => {
    const { say, ok } = await serve(t);
    assert.doesNotMatch(await ok('gateway', 'status'), /rate_limit/);
    for (let n = 0; n < 10; n++) await say('again');
    const status = await ok('gateway', 'status');
    assert.match(status, /route talk: its rate_limit has refused 7 requests/);
    assert.match(await ok('doctor'), /rate_limit has refused 7/);
    const { alerts } = JSON.parse(await ok('gateway', 'status', '--json'));
    assert.deepEqual(
      alerts.map(({ kind, subject }: Record<string, string>) => [kind, subject]),
      [['rate_limited', 'route talk']],
    );
  });
});
