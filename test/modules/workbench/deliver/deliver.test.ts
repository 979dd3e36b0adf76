/** Tests `deliver` and `session` on the command line. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { runInProcess } from '../../../helpers/cli.ts';
import type { Answering } from '../../../helpers/fake-http.ts';
import { startFakeHttp } from '../../../helpers/fake-http.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

async function setUp(t: TestContext, answer: Answering = () => ({ body: { ok: true, result: { message_id: 7 } } })) {
  const home = tempDir(t);
  const server = await startFakeHttp(t, answer);
  const config = `
platforms:
  messenger_a: { enabled: true, token: env:TOKEN, home_channel: "-100", api_base: "${server.url}" }
  slack: { enabled: true, token: env:MISSING }
`;
  writeFileSync(join(home, 'config.yaml'), config);
  const run = (argv: readonly string[], stdin?: string) =>
    runInProcess(argv, { home, env: { TOKEN: '1:canary' }, ...(stdin === undefined ? {} : { stdin }) });
  return { home, server, run };
}

describe('deliver', () => {
  test('sends a message by any name of the target, to the home channel or a chat', async (t) => {
    const { server, run } = await setUp(t);
    const first = await run(['deliver', 'telegram', '--text', 'It works']);
    assert.deepEqual([first.code, server.seen.length], [0, 1], first.stderr);
    await run(['deliver', 'messenger_a', '--text', '-', '--chat-id', '-200', '--thread', '5'], 'from stdin');
    const bodies = server.seen.map(({ json }) => json as Record<string, unknown>);
    assert.deepEqual(
      bodies.map(({ chat_id, text }) => [chat_id, text]),
      [
        [-100, 'It works'],
        [-200, 'from stdin'],
      ],
    );
    assert.equal(bodies[1]?.message_thread_id, 5);
  });

  test('prints the request without credentials, even if they are missing', async (t) => {
    const { server, run } = await setUp(t);
    const shown = await run(['deliver', 'telegram', '--text', 'hello', '--dry-run']);
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(
      shown.stdout,
      /^POST http:\/\/127\.0\.0\.1:\d+\/bot\*\*\*\/sendMessage\ncontent-type: application\/json/,
    );
    assert.match(shown.stdout, /"text":"hello"/);
    const slack = await run(['deliver', 'slack', '--chat-id', 'C1', '--text', 'hello', '--dry-run', '--json']);
    assert.equal(JSON.parse(slack.stdout)[0].headers.authorization, 'Bearer ***');
    assert.doesNotMatch(JSON.stringify([shown, slack]), /canary/);
    assert.equal(server.seen.length, 0);
  });

  test('reports why a message was rejected, and exits 1', async (t) => {
    const { run } = await setUp(t, () => ({ status: 401, body: { ok: false, error_code: 401 } }));
    const refused = await run(['deliver', 'telegram', '--text', 'x']);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /permanent.*\b401\b/);
    const json = await run(['deliver', 'telegram', '--text', 'x', '--json']);
    assert.deepEqual([json.code, JSON.parse(json.stdout).kind], [1, 'permanent']);
    const CASES: readonly (readonly [readonly string[], RegExp, number])[] = [
      [['deliver', 'telegramm', '--text', 'x'], /"telegramm"\n.*\btelegram\b/, 1],
      [['deliver', 'sms', '--text', 'x'], /\bsms\b/, 1],
      [['deliver', 'slack', '--text', 'x'], /\bslack\b.*\btoken\b.*env:MISSING/, 1],
      [['deliver', 'telegram', '--text', 'x', '--profile', 'unknown'], /"unknown"/, 1],
      [['deliver', 'telegram', '--text', 'x', '--chat-id', 'no chat'], /\bchat_id\b/, 1],
      [['deliver', 'telegram', '--text', ''], /^error: /, 1],
      [['deliver', 'telegram'], /--text|--help/, 2],
      [['deliver', 'telegram', '--text', 'x', '--extra', 'novalue'], /--extra.*key=value/, 2],
    ];
    for (const [argv, expected, code] of CASES) {
      const result = await run(argv);
      assert.match(result.stderr, expected, argv.join(' '));
      assert.equal(result.code, code, argv.join(' '));
      assert.doesNotMatch(result.stderr, /canary/);
    }
  });
});

describe('session', () => {
  test('open, list and show accept any name of the target', async (t) => {
    const { home, run } = await setUp(t);
    const path = join(home, 'sessions', 'telegram', '-100200.jsonl');
    assert.deepEqual(await run(['session', 'open', 'telegram', '-100200']), {
      code: 0,
      stdout: `${path}\n`,
      stderr: '',
    });
    writeFileSync(
      path,
      '{"role":"user","content":"[Webhook delivery: a]\\nhi \\u001b[31m","at":"2026-01-01T00:00:00.000Z"}\n',
    );
    assert.match((await run(['session', 'list'])).stdout, /\nchat +telegram +-100200 +1 /);
    const shown = await run(['session', 'show', 'telegram', '-100200']);
    assert.equal(shown.stdout, '2026-01-01T00:00:00.000Z  user\n  [Webhook delivery: a]\n  hi \\u001b[31m\n');
    const json = await run(['session', 'show', 'telegram', '-100200', '--json']);
    assert.equal(JSON.parse(json.stdout)[0].role, 'user');
    const [listed] = JSON.parse((await run(['session', 'list', '--json'])).stdout);
    assert.deepEqual([listed.id, listed.target, listed.turns], ['-100200', 'telegram', 1]);
  });

  test('profiles have separate sessions', async (t) => {
    const { home, run } = await setUp(t);
    mkdirSync(join(home, 'profiles', 'work'), { recursive: true });
    await run(['session', 'open', 'slack', 'C1', '--profile', 'work']);
    assert.equal(readFileSync(join(home, 'profiles', 'work', 'sessions', 'slack', 'C1.jsonl'), 'utf8'), '');
    assert.equal((await run(['session', 'list', '--json'])).stdout, '[]\n');
  });

  test('works without a configuration, and rejects unknown names', async (t) => {
    const home = tempDir(t);
    assert.equal((await runInProcess(['session', 'open', 'discord', '1'], { home })).code, 0);
    for (const [argv, expected] of [
      [['session', 'open', 'discrod', '1'], /"discrod"\n.*\bdiscord\b/],
      [['session', 'show', 'discord', '2'], /\n.*session open discord 2/],
      [['session', 'open', 'discord', ''], /^error: /],
      [['session', 'list', '--profile', '../x'], /\.\.\/x/],
    ] as const) {
      const result = await runInProcess([...argv], { home });
      assert.equal(result.code, 1);
      assert.match(result.stderr, expected);
    }
  });
});
