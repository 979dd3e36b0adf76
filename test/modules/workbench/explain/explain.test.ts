/** Tests the output of `hookwright explain` for people and programs. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { printHar } from '../../../../modules/workbench/cli/requests/print-request.ts';
import { BODY_MARKER, marker } from '../../../../modules/workbench/runtime/removed.ts';
import type { KeptRequest } from '../../../../schemas/built/operations/types.ts';
import type { Explanation } from '../../../../schemas/generated/types.ts';
import type { CliResult } from '../../../helpers/cli.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { goldenTexts } from '../../../helpers/golden-texts.ts';
import { schemaValidator } from '../../../helpers/schema-validator.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const compare = goldenTexts('modules/workbench/explain/explain.txt');

/** Removes generated ids, which differ between runs. */
const printed = (name: string, text: string): void => compare(name, text.replace(/\d{13}-[0-9a-f]{12}/g, '<id>'));

const SECRET = 'the-secret-of-this-test';
const TOKEN = '123456:the-token-of-this-test';
const validate = schemaValidator('explain');
const CONFIG = `
platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      review:
        events: [pull_request, issue*]
        filters:
          - field: action
            in: [opened, reopened]
          - any:
              - field: labels
                contains: ready
              - field: pull_request.draft
                equals: false
        prompt: "#{number} {pull_request.title} {nothing.here}"
        skills: [reviewing]
      chat:
        deliver: telegram
        deliver_only: true
        prompt: hello
        deliver_extra:
          chat_id: "{chat.id}"
      nowhere: { deliver: telegram, deliver_only: true, prompt: x }
      answered: { deliver: telegram, prompt: x }
      large: { filters: [{ field: additions, gt: 500 }, { field: files, lte: 20 }], prompt: x }
      nightly:
        cron_job: report
        prompt: go
      transformed:
        script: shape.sh
        prompt: "{greeting}"
      merged:
        coalesce: { key: "{repo}#{number}", window_seconds: 5 }
        prompt: x
      burst:
        coalesce: { key: repo, keep: all, each: "- #{number} {title}", max_events: 9 }
        prompt: "All:\\n{events}\\nthe last is {number}"
      bare:
        coalesce: { key: repo, keep: all }
        prompt: "{events}!"
      word: { source: url-token, prompt: "{a}" }
      design: { source: figma, prompt: "{a}" }
      gifts: { source: ko-fi, prompt: "{a}" }
      off:
        enabled: false
        prompt: x
      talk:
        prompt: x
        session_key: "{room}"
        status_url: true
        status_answer: true
        on_failure: { deliver: telegram, deliver_extra: { chat_id: "{chat.id}" } }
      newest: { prompt: x, fresh: "{sha}", session: { key: "{room}", scope: rooms, on_newer: cancel } }
  telegram:
    enabled: true
    token: env:TOKEN
jobs:
  report: { schedule: "0 7 * * *", prompt: report, paused: true }
`;

interface ExplainArgs {
  readonly code: number | null;
  readonly found: Explanation;
}

function open(t: TestContext, env: NodeJS.ProcessEnv = { SECRET, TOKEN }, config = CONFIG) {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
  const run = (argv: readonly string[], stdin?: string): Promise<CliResult> =>
    runInProcess(['explain', ...argv], { home, env, ...(stdin === undefined ? {} : { stdin }) });
  const ask = async (argv: readonly string[], stdin?: string): Promise<ExplainArgs> => {
    const { code, stdout, stderr } = await run([...argv, '--json'], stdin);
    assert.notEqual(stdout, '', stderr);
    const found = JSON.parse(stdout) as Explanation;
    assert.deepEqual(validate(found), []);
    return { code, found };
  };
  return { home, run, ask };
}

const GOOD = { action: 'opened', number: 7, pull_request: { title: 'Fix', draft: false } };
const payload = (value: unknown): readonly string[] => ['--payload', JSON.stringify(value)];

test('prints every stage, the prompt and the deliveries of an accepted event', async (t) => {
  const { ask } = open(t);
  const { code, found } = await ask(['review', '--event', 'pull_request', ...payload(GOOD)]);
  assert.equal(code, 0);
  assert.equal(found.stages.length, 22);
  assert.deepEqual(
    found.stages.filter(({ result }) => result === 'skipped').map(({ stage, reason }) => [stage, reason]),
    ['credential', 'handshake', 'signature', 'challenge'].map((stage) => [stage, 'not_signed']),
  );
  const { stages, filter, session, prompt_parts = [], ...rest } = found;
  assert.match(session ?? '', /^webhook:review:/);
  assert.deepEqual(
    prompt_parts.flatMap(({ text, placeholder, resolved }) =>
      placeholder === null ? [] : [[placeholder, text, resolved]],
    ),
    [
      ['{number}', '7', true],
      ['{pull_request.title}', 'Fix', true],
      ['{nothing.here}', '{nothing.here}', false],
    ],
  );
  assert.equal(prompt_parts.map(({ text }) => text).join(''), rest.prompt);
  assert.deepEqual(rest, {
    route: 'review',
    profile: 'default',
    event: 'pull_request',
    delivery_id: null,
    taken: true,
    status: 202,
    outcome: 'accepted',
    reason: null,
    script: null,
    prompt: '#7 Fix {nothing.here}',
    unresolved: ['{nothing.here}'],
    deliveries: [{ target: 'log', address: {}, unresolved: [], home_channel: false }],
    agent: 'preview',
    agent_name: null,
    job: null,
    coalesce: null,
    reach: {
      A: ['{number}', '{pull_request.title}', '{nothing.here}'].map(
        (each) => `\`${each}\` (unknown content, possibly written by a stranger)`,
      ),
      B: [],
      C: [],
    },
    toolsets: ['web_search', 'web_extract', 'vision_analyze', 'clarify'],
    skills: ['reviewing'],
    warnings: [],
    would_not_start: null,
  });
});

test('evaluates every leaf, also after a group is decided', async (t) => {
  const { ask } = open(t);
  const refused = { ...GOOD, action: 'closed', labels: ['ready'] };
  const { code, found } = await ask(['review', '--event', 'issues', ...payload(refused)]);
  assert.equal(code, 1);
  assert.deepEqual([found.status, found.outcome, found.reason], [200, 'ignored', 'filter']);
  assert.equal(found.stages.find(({ stage }) => stage === 'event')?.matched, 'issue*');
  assert.deepEqual(found.filter, {
    ...{ operator: 'all', field: null, expected: null, found: null, missing: false, holds: false },
    of: [
      {
        ...{ operator: 'in', field: 'action', expected: ['opened', 'reopened'], found: 'closed' },
        ...{ missing: false, holds: false, of: [] },
      },
      {
        ...{ operator: 'any', field: null, expected: null, found: null, missing: false, holds: true },
        of: [
          {
            ...{ operator: 'contains', field: 'labels', expected: 'ready', found: ['ready'] },
            ...{ missing: false, holds: true, of: [] },
          },
          {
            ...{ operator: 'equals', field: 'pull_request.draft', expected: false, found: false },
            ...{ missing: false, holds: true, of: [] },
          },
        ],
      },
    ],
  });
  assert.deepEqual([found.prompt, found.deliveries], [null, []]);
});

test('names the entries of `events` for an event that none accepts', async (t) => {
  const { run } = open(t);
  const { code, stdout } = await run(['review', '--event', 'push', ...payload(GOOD)]);
  assert.equal(code, 1);
  printed('an event that no entry accepts', stdout);
});

test('prints each leaf of the filters with the found value', async (t) => {
  const { run } = open(t);
  const { stdout } = await run(['review', '--event', 'pull_request', ...payload({ action: 'opened', labels: 3 })]);
  printed('a tree of conditions', stdout);
});

test('prints the number of a comparison and the found value', async (t) => {
  const { run } = open(t);
  const { stdout } = await run(['large', ...payload({ additions: 501, files: '3' })]);
  printed('comparisons', stdout);
});

const signedBody = JSON.stringify(GOOD);
const digest = createHmac('sha256', SECRET).update(signedBody).digest('hex');
/** Returns a signed request as other tools save it. */
const headersWith = (signature: string) =>
  [
    ['X-GitHub-Event', 'pull_request'],
    ['X-GitHub-Delivery', 'd-9'],
    ['X-Hub-Signature-256', signature],
    ['Content-Type', 'application/json'],
  ] as const;
const headers = headersWith(`sha256=${digest}`);
const entryOf = (path: string) => ({
  request: {
    ...{ method: 'POST', url: `https://example.test/webhooks/${path}` },
    headers: headers.map(([name, value]) => ({ name, value })),
    postData: { mimeType: 'application/json', text: path === 'review' ? signedBody : '{}' },
  },
});
const harOf = (...paths: readonly string[]): string => JSON.stringify({ log: { entries: paths.map(entryOf) } });
const rawWith = (signature: string): string =>
  [
    'POST /webhooks/review HTTP/1.1',
    ...headersWith(signature).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(signedBody)}\r\n\r\n${signedBody}`,
  ].join('\r\n');

const chunked = [
  'POST /webhooks/review HTTP/1.1',
  ...headers.map(([name, value]) => `${name}: ${value}`),
  'Transfer-Encoding: chunked\r\n',
  ...['3', signedBody.slice(0, 3), (signedBody.length - 3).toString(16), signedBody.slice(3), '0', '\r\n'],
].join('\r\n');

for (const [form, saved] of [
  ['a HAR file', harOf('review')],
  ['a HAR file with another request before it', harOf('ci', 'review')],
  ['raw HTTP', rawWith(`sha256=${digest}`)],
  ['raw HTTP in chunks', chunked],
] as const) {
  test(`verifies the signature of ${form}, and reads event and id`, async (t) => {
    const { ask } = open(t);
    const { code, found } = await ask(['review', '--payload', '-'], saved);
    assert.equal(code, 0);
    assert.deepEqual([found.event, found.delivery_id], ['pull_request', 'd-9']);
    const signature = found.stages.find(({ stage }) => stage === 'signature');
    assert.deepEqual([signature?.result, signature?.scheme], ['pass', 'github']);
  });
}

test('prints the cause of an invalid signature, but never the valid one', async (t) => {
  const { ask } = open(t);
  const base64 = Buffer.from(digest, 'hex').toString('base64');
  const { code, found } = await ask(['review', '--payload', '-'], rawWith(`sha256=${base64}`));
  assert.equal(code, 1);
  assert.deepEqual([found.status, found.outcome, found.reason], [401, 'invalid_signature', 'malformed_signature']);
  const cause = found.stages.find(({ result }) => result === 'stop')?.cause;
  assert.deepEqual([cause?.code, cause?.certain], ['encoding', true]);
  assert.doesNotMatch(JSON.stringify(found), new RegExp(digest));
});

test('prints a cause that repeats the reason once, and any other cause below the reason', async (t) => {
  const { run } = open(t);
  const formal = await run(['review', '--payload', '-'], rawWith('sha256=00'));
  printed('a signature of another form', formal.stdout);
  const bare = await run(['review', '--payload', '-'], rawWith(digest));
  printed('a signature without its prefix', bare.stdout);
});

test('does not verify a saved request by the marker of a removed credential', async (t) => {
  const { ask, home } = open(t);
  const data = new URLSearchParams({ data: JSON.stringify({ a: 1, verification_token: 'THE-TOKEN' }) });
  const form = data.toString().replace('THE-TOKEN', BODY_MARKER);
  for (const [route, query, type, body] of [
    ['word', `?token=${encodeURIComponent(marker('token'))}`, 'application/json', '{"a":1}'],
    ['design', '', 'application/json', JSON.stringify({ a: 1, passcode: BODY_MARKER })],
    ['gifts', '', 'application/x-www-form-urlencoded', form],
  ] as const) {
    const captured = {
      id: 'x',
      at: 0,
      method: 'POST',
      path: `/webhooks/${route}${query}`,
      route,
      headers: [['content-type', type]],
    };
    const saved = printHar({ ...captured, body: Buffer.from(body).toString('base64') } as unknown as KeptRequest);
    writeFileSync(join(home, 'kept.json'), saved);
    const { code, found } = await ask([route, '--payload', '@kept.json']);
    assert.deepEqual([code, found.outcome], [0, 'accepted'], route);
    assert.equal(found.stages.find(({ stage }) => stage === 'signature')?.reason, 'not_signed');
    const [entry] = JSON.parse(saved).log.entries;
    assert.ok(entry.request.comment.endsWith(`: ${query === '' ? 'body' : '?token'}`), entry.request.comment);
  }
});

test('warns that a signature is not verified without the secret', async (t) => {
  const { ask } = open(t, {});
  const { code, found } = await ask(['review', '--payload', '-'], rawWith('sha256=00'));
  assert.equal(code, 1);
  assert.equal(found.stages.find(({ stage }) => stage === 'signature')?.reason, 'no_secret');
  assert.match(found.warnings.join(), /env:SECRET/);
});

test('a direct delivery without an address fails', async (t) => {
  const { ask } = open(t);
  const lost = await ask(['chat', ...payload({})]);
  assert.deepEqual([lost.code, lost.found.status, lost.found.reason], [1, 502, 'delivery_failed']);
  assert.deepEqual(lost.found.deliveries[0]?.unresolved, ['chat_id']);
  assert.match(lost.found.warnings.join(), /chat_id.*\btelegram\b.*\{chat\.id\}/);
  const found = await ask(['chat', ...payload({ chat: { id: -5 } })]);
  assert.deepEqual([found.code, found.found.outcome], [0, 'delivered']);
  assert.deepEqual(found.found.deliveries[0]?.address, { chat_id: '-5' });
});

test('accepts a message to a URL with the route and a field of the payload', async (t) => {
  const routes = '{ told: { prompt: "{a}", agent: none, deliver: http } }';
  const url = 'https://hooks.example.com/{route}/{delivery_id}?n={number}';
  const webhook = `webhook: { enabled: true, secret: env:SECRET, routes: ${routes} }`;
  const { ask } = open(t, { SECRET }, `platforms: { ${webhook}, http: { enabled: true, url: "${url}" } }`);
  const { code, found } = await ask(['told', ...payload({ a: 'x', number: 5 })]);
  assert.deepEqual([code, found.warnings], [0, []]);
});

test('a paused job drops its events', async (t) => {
  const { found, code } = await open(t).ask(['nightly', ...payload({})]);
  assert.deepEqual([code, found.outcome, found.reason, found.job], [1, 'ignored', 'job_paused', 'report']);
});

test('prints the key of a group', async (t) => {
  const { ask } = open(t);
  const { found } = await ask(['merged', ...payload({ repo: 'o/r', number: 3 })]);
  assert.equal(found.outcome, 'coalesced');
  assert.deepEqual(found.coalesce, { key: 'o/r#3', window_seconds: 5, max_wait_seconds: 300 });
  const alone = (await ask(['merged', ...payload({ repo: 'o/r' })])).found;
  assert.equal(alone.outcome, 'accepted');
  assert.match(alone.warnings.join(), /^`coalesce\.key` /);
});

test('prints the event in the list of a burst', async (t) => {
  const { ask } = open(t);
  const { found } = await ask(['burst', ...payload({ repo: 'o/r', number: 3 })]);
  assert.equal(found.prompt, 'All:\n- #3 {title}\nthe last is 3');
  assert.deepEqual(found.unresolved, ['{title}']);
  assert.deepEqual(found.coalesce, { key: 'o/r', keep: 'all', window_seconds: 30, max_wait_seconds: 300 });
  const alone = (await ask(['burst', ...payload({ number: 4, title: '{events}' })])).found;
  assert.deepEqual([alone.coalesce, alone.prompt], [null, 'All:\n- #4 {events}\nthe last is 4']);
  const bare = (await ask(['bare', ...payload({ repo: 'x', text: 'a\n'.repeat(400) })])).found;
  assert.match(bare.prompt ?? '', /^\{"repo":"x","text":"(?:a\\n)+a?\\?!$/);
  assert.equal(bare.prompt?.length, 501);
});

test('runs a script only with --run-script', async (t) => {
  const { home, ask } = open(t);
  mkdirSync(join(home, 'scripts'));
  const script = join(home, 'scripts/shape.sh');
  writeFileSync(script, 'read body; echo ran >> "$HOOKWRIGHT_HOME/ran"; echo \'{"greeting": "hello"}\'\n');
  chmodSync(script, 0o755);
  const dry = await ask(['transformed', ...payload({ a: 1 })]);
  assert.deepEqual([dry.code, dry.found.prompt], [0, '{greeting}']);
  const stdin = '{"a":1}';
  assert.deepEqual(dry.found.script, {
    path: 'shape.sh',
    ran: false,
    outcome: null,
    detail: null,
    stderr: null,
    stdin,
  });
  const run = await ask(['transformed', '--run-script', ...payload({ a: 1 })]);
  assert.equal(run.found.prompt, 'hello');
  assert.deepEqual(run.found.script, {
    path: 'shape.sh',
    ran: true,
    outcome: 'payload',
    detail: null,
    stderr: null,
    stdin,
  });
  writeFileSync(script, 'echo "no such branch" >&2\nexit 3\n');
  const failed = await ask(['transformed', '--run-script', ...payload({ a: 1 })]);
  assert.deepEqual([failed.code, failed.found.reason], [1, 'script']);
  assert.match(failed.found.script?.detail ?? '', /\b3\b/);
});

test('prints how a script ended the event, with its name, input and stderr', async (t) => {
  const { home, run } = open(t);
  mkdirSync(join(home, 'scripts'));
  const told = async (text: string): Promise<string> => {
    writeFileSync(join(home, 'scripts/shape.sh'), text, { mode: 0o755 });
    return (await run(['transformed', '--run-script', ...payload({ a: 1 })])).stdout;
  };
  printed('a script that prints [SILENT]', await told("echo '[SILENT]'\n"));
  printed('a script that prints nothing', await told('true\n'));
  const key = await told('echo \'{"__hookwright_ignore__": true}\'\n');
  printed('a script that ignores the event', key);
  const failed = await told('echo "no such branch" >&2\nexit 3\n');
  printed('a script that fails', failed);
});

test('prints the home channel as the address, and a delivery without an address fails', async (t) => {
  const homeless = open(t);
  const direct = await homeless.ask(['nowhere', ...payload({})]);
  assert.deepEqual([direct.code, direct.found.status, direct.found.reason], [1, 502, 'delivery_failed']);
  const agent = await homeless.ask(['answered', ...payload({})]);
  assert.equal(agent.code, 0);
  for (const { found } of [direct, agent]) {
    assert.match(found.warnings.join('\n'), /\btelegram\b.*chat_id/);
  }
  const config = CONFIG.replace('token: env:TOKEN', 'token: env:TOKEN\n    home_channel: "-77"');
  const { ask, run } = open(t, { SECRET, TOKEN }, config);
  for (const route of ['nowhere', 'answered']) {
    const { found, code } = await ask([route, ...payload({})]);
    assert.deepEqual([code, found.warnings], [0, []]);
    assert.deepEqual(found.deliveries, [
      { target: 'telegram', address: { chat_id: '-77' }, unresolved: [], home_channel: true },
    ]);
  }
  printed('a home channel', (await run(['nowhere', ...payload({})])).stdout);
});

test('first prints why serve would not start', async (t) => {
  const off = open(t, { SECRET, TOKEN }, CONFIG.replace('enabled: true\n    secret', 'enabled: false\n    secret'));
  const { stdout, code } = await off.run(['transformed', ...payload({})]);
  assert.equal(code, 1);
  assert.match(stdout, /^`serve` .*platforms\.webhook\.enabled\n/);
  const { found } = await off.ask(['transformed', ...payload({})]);
  assert.deepEqual([found.taken, found.outcome], [false, 'accepted']);
  const file = join(tempDir(t), 'secret');
  writeFileSync(file, 'INSECURE_NO_AUTH', { mode: 0o600 });
  const exposed = CONFIG.replace('secret: env:SECRET', `host: 0.0.0.0\n    secret: file:${file}`);
  const open0 = await open(t, {}, exposed).run(['transformed', ...payload({})]);
  assert.equal(open0.code, 1);
  assert.match(open0.stdout, /^`serve` .*route "\w+": INSECURE_NO_AUTH\b/);
  const missing = await open(t, {}).run(['transformed', ...payload({})]);
  assert.equal(missing.code, 1);
  assert.match(missing.stdout, /^`serve` .*route "review": env:SECRET\b/);
  assert.match(missing.stdout, /^`serve` .*\btelegram\b.*\bdefault\b.*env:TOKEN\b/m);
});

test('prints failure notices, the status_url, and an unresolved session_key', async (t) => {
  const { ask, run } = open(t);
  const { found } = await ask(['talk', ...payload({ room: 'a', chat: { id: 5 } })]);
  assert.deepEqual(found.on_failure, [
    { target: 'telegram', address: { chat_id: '5' }, unresolved: [], home_channel: false },
  ]);
  assert.deepEqual([found.status_url, found.session, found.warnings], ['answer', 'webhook:talk:a', []]);
  const { stdout, code } = await run(['talk', ...payload({ chat: { id: 5 } })]);
  assert.equal(code, 0);
  printed('a failed run and a session that does not resolve', stdout);
});

test('shows that an event replaces earlier runs, if its session is known', async (t) => {
  const { ask, run } = open(t);
  const { found } = await ask(['newest', ...payload({ room: 'a' })]);
  assert.deepEqual([found.session, found.on_newer], ['rooms:a', 'cancel']);
  const other = await ask(['newest', ...payload({})]);
  assert.equal(other.found.on_newer, undefined);
  assert.equal(other.found.fresh, undefined);
  printed('a run that replaces others', (await run(['newest', ...payload({ room: 'a', sha: 'ab12' })])).stdout);
});

test('a disabled route, a body that is not JSON and a wrong method stop at the same stage as in the gateway', async (t) => {
  const { home, ask } = open(t);
  assert.deepEqual((await ask(['off', ...payload({})])).found.outcome, 'route_disabled');
  writeFileSync(join(home, 'broken'), '{"a":');
  const broken = (await ask(['review', '--payload', '@broken'])).found;
  assert.deepEqual([broken.status, broken.event], [400, null]);
  const get = 'GET /webhooks/review HTTP/1.1\r\nHost: x\r\n\r\n';
  assert.equal((await ask(['review', '--payload', '-'], get)).found.outcome, 'method_not_allowed');
});

test('exits 2 for wrong usage, and 1 for unknown names', async (t) => {
  const { run } = open(t);
  for (const argv of [
    ['review'],
    ['review', '--payload', 'event.json'],
    ['review', '--payload', '{}', '--header', 'x'],
  ]) {
    assert.equal((await run(argv)).code, 2, argv.join(' '));
  }
  const unknown = await run(['revew', '--payload', '{}']);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /"revew".*\n?.*\breview\b/);
  assert.equal((await run(['review', '--payload', '@nowhere.json'])).code, 1);
});
