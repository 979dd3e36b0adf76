/** On a terminal of 80 columns no line is wider, except for a long word (a URL, path or id). */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { commandsOf } from '../../../cli/commands.ts';
import { wrapBeside } from '../../../cli/output/print.ts';
import { MODULES } from '../../../main/modules.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const WIDTH = 80;
const SECRET = 'a secret of sixteen characters';
const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      review-of-pull-requests:
        events: [pull_request]
        filters: { field: action, equals: opened }
        prompt: "Review #{number}"
      payment-failed: { source: stripe, prompt: "{type}", deliver: [telegram, log], deliver_extra: { chat_id: "1" } }
  telegram: { enabled: true, token: env:TELEGRAM_BOT_TOKEN_OF_THE_ALERTS }
agent: { command: [sh, -c, "echo the agent has no credit left and says so at some length >&2; exit 3"] }
jobs:
  digest-of-the-night: { schedule: "30 6 * * 1-5", timezone: America/Argentina/Buenos_Aires, prompt: Digest }
`;

async function screenOf(home: string, argv: readonly string[]): Promise<string> {
  let screen = '';
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    screen += chunk.toString();
    done();
  };
  const stdout = Object.assign(new Writable({ write }), { isTTY: true, columns: WIDTH });
  await runInProcess(argv, { home, context: { stdout } });
  return screen;
}

/** Lines that should have been wrapped at a space. */
const tooWide = (screen: string): string[] =>
  screen.split('\n').filter((line) => line.length > WIDTH && !line.split(' ').some((word) => word.length > WIDTH / 2));

test('every help text fits', async (t) => {
  const home = tempDir(t);
  const nouns = commandsOf(MODULES).flatMap(({ path }) => (path.includes(' ') ? [path.split(' ')[0] ?? ''] : []));
  for (const words of ['', ...new Set(nouns), ...commandsOf(MODULES).map(({ path }) => path)]) {
    const screen = await screenOf(home, [...words.split(' ').filter(Boolean), '--help']);
    assert.notEqual(screen, '', words);
    // An example is one line, so that it can be copied.
    const text = screen.replace(/^ {2}hookwright .*$/gm, '');
    assert.deepEqual(tooWide(text), [], words);
  }
});

test('lists and details fit', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, '.env'), `WEBHOOK_SECRET=${SECRET}\nTELEGRAM_BOT_TOKEN_OF_THE_ALERTS=1:a\n`, {
    mode: 0o600,
  });
  const gateway = await startGateway(t, { home, config: CONFIG });
  const send = (body: string, headers: Record<string, string> = {}) =>
    sendAgain(`${gateway.url}/webhooks/review-of-pull-requests`, {
      method: 'POST',
      body,
      headers: { ...signed(body, SECRET), 'X-GitHub-Event': 'pull_request', ...headers },
    });
  await send('{"action":"closed","number":7}');
  await send('{"action":"opened","number":8}');
  await until(async () => (await gateway.status()).dispatches?.last_error);
  await send('{"action":"opened"}', { 'x-hub-signature-256': 'sha256=00' });
  const [dead] = JSON.parse((await gateway.cli('deliveries', 'list', '--json')).stdout) as { id: string }[];
  const shown = {
    'requests list': 'review-of-pull-requests',
    'requests show': 'invalid_signature',
    'deliveries list': 'review-of-pull-requests',
    [`deliveries show ${dead?.id}`]: 'no credit left',
    'gateway status': gateway.url,
    doctor: 'telegram',
    'job list': 'UTC-3',
    'job show digest-of-the-night': 'Digest',
    'webhook list --all': 'review-of-pull-requests',
    'source list': 'github',
    'source show github': 'github',
    'blueprint list': 'morning-brief',
    'profile list': 'default',
    docs: 'tutorial',
  };
  for (const [words, expected] of Object.entries(shown)) {
    const screen = await screenOf(home, words.split(' '));
    assert.ok(screen.includes(expected), `${words}\n${screen}`);
    assert.deepEqual(tooWide(screen), [], words);
  }
});

test('a text is wrapped below its first word, and not wrapped without a terminal', () => {
  assert.deepEqual(wrapBeside('fix: ', 'set the token', 12), ['fix: set the', '     token']);
  assert.deepEqual(wrapBeside('fix: ', 'set the token', undefined), ['fix: set the token']);
  assert.deepEqual(wrapBeside('\u001b[33m!\u001b[39m ', 'a b', 3), ['\u001b[33m!\u001b[39m a', '  b']);
});
