/** Serves the examples and sends events to them. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { recorded, startExample } from '../helpers/example.ts';
import { startFakeHttp } from '../helpers/fake-http.ts';
import { until } from '../helpers/gateway.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));

const opened = recorded('pull_request', ({ action }) => action === 'opened');
const read = (path: string): string | null => (existsSync(path) ? readFileSync(path, 'utf8') : null);

test('quickstart shows the prompt of a real pull request as the answer', async (t) => {
  const { post, running } = await startExample(t, 'quickstart');
  const payload = JSON.parse(readFileSync(join(EXAMPLES, 'quickstart/pull_request.json'), 'utf8'));
  assert.deepEqual(payload, opened, 'the shipped payload is a recorded one');
  const { status, body } = await post('pull-requests', 'pull_request', payload);
  assert.equal(status, 202);
  assert.equal(body.status, 'accepted');
  await until(async () => /Summarise pull request #2 of Codertocat\/Hello-World/.test(running.stderr()));
  assert.match(running.stderr(), /Author: Codertocat/);
  const closed = await post('pull-requests', 'pull_request', { ...payload, action: 'closed' });
  assert.deepEqual(closed.body, { status: 'ignored', reason: 'filter', route: 'pull-requests', event: 'pull_request' });
});

test('code-review posts the answer as a comment and ignores drafts and bots', async (t) => {
  const { post, dir } = await startExample(t, 'code-review', {
    programs: {
      ollama: 'cat > "$DIR/prompt"; echo "Looks right to me."',
      gh: 'echo "$@" >> "$DIR/argv"; cat > "$DIR/comment"; echo https://github.com/o/r/issues/2#issuecomment-1',
    },
  });
  for (const quiet of [
    recorded('pull_request', ({ action }) => action === 'converted_to_draft'),
    { ...opened, sender: { login: 'dependabot[bot]', type: 'Bot' } },
  ]) {
    assert.equal((await post('code-review', 'pull_request', quiet)).body.reason, 'filter');
  }
  assert.equal((await post('code-review', 'pull_request', opened)).status, 202);
  const comment = await until(async () => read(join(dir, 'comment')) || null);
  assert.match(comment, /^Looks right to me\./);
  assert.match(read(join(dir, 'argv')) ?? '', /^issue comment --repo=Codertocat\/Hello-World --body-file=- -- 2$/m);
  assert.match(read(join(dir, 'prompt')) ?? '', /(untrusted-\w+)[\s\S]*Title: <\1>Update the README/);
});

test('alerts sends failed checks and vulnerable dependencies to their chats', async (t) => {
  const messenger = await startFakeHttp(t, () => ({
    body: { ok: true, result: { message_id: 7, chat: { id: -1 }, date: 1, text: 'x' } },
  }));
  const { post } = await startExample(t, 'alerts', {
    env: { TELEGRAM_BOT_TOKEN: '123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11' },
    edit: (config) => config.replace('    token:', `    api_base: ${messenger.url}\n    token:`),
  });
  const failed = recorded(
    'check_run',
    ({ check_run }) => (check_run as { conclusion: unknown }).conclusion === 'failure',
  );
  const passed = recorded(
    'check_run',
    ({ check_run }) => (check_run as { conclusion: unknown }).conclusion === 'success',
  );
  const taken = await post('failed-checks', 'check_run', failed);
  assert.equal(taken.status, 202, JSON.stringify(taken.body));
  await until(async () => messenger.seen.length === 1);
  assert.equal((await post('failed-checks', 'check_run', passed)).body.reason, 'filter');
  const alert = recorded('dependabot_alert', ({ action }) => action === 'created');
  assert.equal((await post('security', 'dependabot_alert', alert)).body.status, 'accepted');
  await until(async () => messenger.seen.length === 2);
  const sent = messenger.seen.map(({ json }) => json as { chat_id: unknown; text: string });
  assert.deepEqual(
    sent.map(({ chat_id }) => String(chat_id)),
    ['-1009876543210', '-1001234567890'],
  );
  assert.match(sent[0]?.text ?? '', /^🔴 Octocoders-linter failed in Codertocat\/Hello-World on changes\nhttps:/);
  assert.match(sent[1]?.text ?? '', /^🛡 medium: semver in wolfy1339\/pika-pack\n/);
});

test('burst runs once for many events of a pull request and reports how many were superseded', async (t) => {
  const { post, dir, stop } = await startExample(t, 'burst', {
    programs: { ollama: 'cat >> "$DIR/prompts"; echo "==" >> "$DIR/prompts"; echo done' },
  });
  const superseded: unknown[] = [];
  for (const sha of ['a1', 'b2', 'c3']) {
    const pushed = { ...opened, action: 'synchronize', pull_request: { number: 2, head: { sha } } };
    const { status, body } = await post('pushes', 'pull_request', pushed);
    assert.equal(status, 202);
    superseded.push(body.superseded);
  }
  assert.deepEqual(superseded, [0, 1, 2]);
  await stop();
  assert.equal(
    read(join(dir, 'prompts')),
    '[2 earlier events for this entity were superseded by this one.]\n\n' +
      'Summarise the state of pull request #2 of Codertocat/Hello-World at c3.\n==\n',
  );
});
