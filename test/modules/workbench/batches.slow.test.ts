/** Batches and responses in `requests`, `explain`, `test` and `diff`. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { Explanation, PrintedRequest } from '../../../schemas/generated/types.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { startGateway } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const TOKEN = '8f1d2b7e9c4a6053f7e1b2c3d4a59687';
const CONFIG = `sources:
  feed:
    verify: token
    signature: { header: X-Token }
    each: "events[]"
    event: { json: type }
    delivery: { json: id }
platforms:
  webhook:
    enabled: true
    secret: ${TOKEN}
    routes:
      feed:
        source: feed
        events: [made]
        prompt: "{text} of {batch.name}"
        respond: { accepted: { status: 200, content_type: text/plain, body: "got {name}" } }
`;
const BATCH = {
  name: 'n',
  events: [
    { id: '1', type: 'other' },
    { id: '2', type: 'made', text: 'hello' },
  ],
};

function setUp(t: TestContext) {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  writeFileSync(join(home, 'batch.json'), JSON.stringify(BATCH));
  const cli = (...argv: string[]) => runInProcess(argv, { home, cwd: home });
  return { home, cli };
}

test('a batch is explained event by event, with the response', async (t) => {
  const { cli } = setUp(t);
  const { stdout, stderr } = await cli('explain', 'feed', '--payload', '@batch.json', '--json');
  assert.equal(stderr, '');
  const found = JSON.parse(stdout) as Explanation;
  assert.deepEqual([found.outcome, found.status, found.taken], ['accepted', 200, true]);
  assert.deepEqual(found.response, { content_type: 'text/plain', headers: {}, body: 'got n' });
  assert.deepEqual(
    found.events?.map(({ event, delivery_id, outcome, reason, prompt }) => [
      event,
      delivery_id,
      outcome,
      reason,
      prompt,
    ]),
    [
      ['other', '1', 'ignored', 'event', null],
      ['made', '2', 'accepted', null, 'hello of n'],
    ],
  );
  const { stdout: text } = await cli('explain', 'feed', '--payload', '@batch.json');
  assert.match(text, /feed #0: 200 ignored: event[\s\S]*feed #1: 202 accepted[\s\S]*hello of n/);
  assert.match(text, /got n/);
});

test('a test expects something of each event and of the response', async (t) => {
  const { home, cli } = setUp(t);
  const run = async (expect: object) => {
    const tests = [{ name: 'a batch', route: 'feed', payload: BATCH, expect }];
    writeFileSync(join(home, 'feed.test.yaml'), JSON.stringify({ config: 'config.yaml', tests }));
    const { code, stdout, stderr } = await cli('test', 'feed.test.yaml');
    return { code, text: stdout + stderr };
  };
  const events = [
    { outcome: 'ignored', reason: 'event' },
    { prompt: 'hello of n', event: 'made' },
  ];
  const response = { status: 200, content_type: 'text/plain', body: 'got n' };
  const passed = await run({ outcome: 'accepted', events, response });
  assert.equal(passed.code, 0, passed.text);
  for (const wrong of [
    { events: events.slice(1) },
    { events: [events[1], events[1]] },
    { response: { status: 202 } },
    { response: { body: 'got m' } },
    { response: { headers: { 'x-a': 'b' } } },
  ]) {
    const { code, text } = await run(wrong);
    assert.equal(code, 1, JSON.stringify(wrong));
    assert.match(text, /expected/);
  }
  for (const wrong of [{ prompt: 'hello of n' }, { deliver: 'log' }, { session: 'a' }]) {
    const { code, text } = await run({ outcome: 'accepted', ...wrong });
    assert.equal(code, 1, JSON.stringify(wrong));
    assert.match(text, /under `events`/);
  }
});

test('a batch is captured and replayed event by event, and compared with another configuration', async (t) => {
  const { home } = setUp(t);
  const gateway = await startGateway(t, { home, config: CONFIG });
  const headers = { 'content-type': 'application/json', 'x-token': TOKEN };
  const post = (body: unknown = BATCH) =>
    fetch(`${gateway.url}/webhooks/feed`, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.equal((await post()).status, 200);
  const show = async (): Promise<PrintedRequest> => {
    const { stdout: listed } = await gateway.cli('requests', 'list', '--json', '--outcome', 'accepted');
    const [last] = JSON.parse(listed) as readonly { readonly id: string }[];
    return JSON.parse((await gateway.cli('requests', 'show', last?.id ?? '', '--json')).stdout) as PrintedRequest;
  };
  const request = await show();
  assert.deepEqual([request.status, request.event], [200, 'other, made']);
  assert.deepEqual(
    request.events?.map(({ event, delivery_id, outcome, reason, dispatch_id }) => [
      event,
      delivery_id,
      outcome,
      reason,
      dispatch_id === null,
    ]),
    [
      ['other', '1', 'ignored', 'event', true],
      ['made', '2', 'accepted', null, false],
    ],
  );
  const { stdout: text } = await gateway.cli('requests', 'show', request.id);
  assert.match(text, /event 0 +other 1: ignored: event\n(?:.*\n)*event 1 +made 2: accepted, delivery /);
  const { stdout: asTest } = await gateway.cli('requests', 'show', request.id, '--as-test');
  writeFileSync(join(home, 'shown.test.yaml'), `config: config.yaml\n${asTest}`);
  assert.match(asTest, /expect:\n +outcome: accepted\n/);
  assert.equal((await gateway.cli('test', 'shown.test.yaml')).code, 0);
  await post({ events: BATCH.events.slice(1) });
  const { stdout: list } = await gateway.cli('requests', 'list', '--json', '--outcome', 'duplicate');
  const { id: repeat = '' } = (JSON.parse(list) as readonly { readonly id: string }[])[0] ?? {};
  assert.match((await gateway.cli('requests', 'show', repeat)).stdout, /an event with the id 2 was accepted before/);
  const sent = [
    'webhook',
    'test',
    'feed',
    '--yes',
    '--payload',
    JSON.stringify({ name: 'm', events: [{ id: '9', text: 'x' }] }),
  ];
  assert.doesNotMatch((await gateway.cli(...sent)).stderr, /not in the payload/);
  const replayed = await gateway.cli('requests', 'replay', request.id);
  assert.equal(replayed.code, 0, replayed.stderr);
  const again = await show();
  assert.deepEqual(
    [again.replay_of, again.events?.map(({ outcome }) => outcome)],
    [request.id, ['ignored', 'accepted']],
  );
  writeFileSync(join(home, 'next.yaml'), CONFIG.replace('events: [made]', 'events: [other]'));
  const diff = await gateway.cli('diff', 'config.yaml', 'next.yaml', '--requests', '1', '--json');
  const { requests } = JSON.parse(diff.stdout) as {
    readonly requests: { readonly changes: readonly { readonly kind: string }[] };
  };
  assert.deepEqual(
    requests.changes.map(({ kind }) => kind),
    ['lost'],
    diff.stdout,
  );
});
