/** The how-tos for GitHub, GitLab, Stripe and Alertmanager: with doubles of the agent and of the service, each ends in the message that it promises. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { startFakeHttp } from '../helpers/fake-http.ts';
import { startGateway, until } from '../helpers/gateway.ts';
import type { CodeBlock } from '../helpers/markdown.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const SECRETS = {
  GITHUB_WEBHOOK_SECRET: 'a-secret-of-the-how-tos-1',
  GITLAB_WEBHOOK_SECRET: 'a-secret-of-the-how-tos-2',
  STRIPE_WEBHOOK_SECRET: 'whsec_a-secret-of-the-how-tos-3',
  ALERTMANAGER_SECRET: 'a-secret-of-the-how-tos-4',
  GITLAB_TOKEN: 'glpat-a-token-of-the-how-tos',
  TELEGRAM_BOT_TOKEN: '1234567890:a-token-of-the-how-tos',
  OPENAI_API_KEY: 'a-key-of-the-how-tos',
};

/** Serves the page's configuration from a home that holds its other files, with the programs that it names as doubles. */
async function startPage(
  t: TestContext,
  page: string,
  change: (config: string) => string,
  env: NodeJS.ProcessEnv = {},
) {
  const home = tempDir(t);
  const blocks = codeBlocks(readFileSync(join(ROOT, `docs/${page}.md`), 'utf8'));
  for (const block of blocks) writeFile(home, block);
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [name, script] of Object.entries({
    claude: 'cat; echo "Looks right."',
    llm: 'cat; echo "Free some space."',
    gh: `echo "$@" > '${home}/gh.argv'; cat > '${home}/comment'; echo https://github.com/octo/demo/issues/7#issuecomment-1`,
  })) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const config = change(blocks.find(({ note }) => note === 'file: hookwright.yaml')?.text ?? '');
  return startGateway(t, { home, config, env: { ...SECRETS, ...env, PATH: `${bin}:${process.env.PATH}` } });
}

function writeFile(home: string, { note, text }: CodeBlock): void {
  const name = note?.startsWith('file: ') ? note.slice('file: '.length).replace(/^home\//, '') : 'hookwright.yaml';
  if (name === 'hookwright.yaml') return;
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), text);
}

test('docs/github.md: the answer becomes a comment', async (t) => {
  const gateway = await startPage(t, 'github', (config) => config);
  assert.equal((await gateway.cli('webhook', 'test', 'review', '--yes')).code, 0);
  const argv = await until(async () => readOrNull(join(gateway.home, 'gh.argv')));
  assert.match(argv, /--repo=example\/test /);
  const comment = await until(async () => readOrNull(join(gateway.home, 'comment')));
  assert.match(comment, /#1\b.*example\/test\b[\s\S]*Looks right\./);
});

test('docs/gitlab.md: the answer becomes a note on the merge request', async (t) => {
  const gitlab = await startFakeHttp(t, ({ url }) =>
    url.endsWith('/user') ? { body: { id: 1, username: 'bot' } } : { status: 201, body: { id: 9 } },
  );
  const apiBase = `    api_base: ${gitlab.url}/api/v4\n    token: env:GITLAB_TOKEN`;
  const gateway = await startPage(t, 'gitlab', (config) => config.replace('    token: env:GITLAB_TOKEN', apiBase));
  const event = {
    object_attributes: { action: 'open', iid: 7, title: 'Count' },
    project: { path_with_namespace: 'acme/shop' },
  };
  await gateway.cli('webhook', 'test', 'merge-requests', '--payload', JSON.stringify(event));
  // At the start the account is asked for, whose own notes are ignored.
  const note = await until(async () => gitlab.seen.find(({ method }) => method === 'POST'));
  assert.equal(`${note.method} ${note.url}`, 'POST /api/v4/projects/acme%2Fshop/merge_requests/7/notes');
  assert.equal(note.headers['private-token'], SECRETS.GITLAB_TOKEN);
  assert.match((note.json as { body: string }).body, /^[\s\S]*Count[\s\S]*Looks right\.\n/);
});

test('docs/stripe.md: the sender is answered once the message is sent', async (t) => {
  const telegram = await startFakeHttp(t, () => ({
    body: { ok: true, result: { message_id: 7, chat: { id: -1 }, date: 1, text: 'x' } },
  }));
  const apiBase = `    api_base: ${telegram.url}\n    token: env`;
  const gateway = await startPage(t, 'stripe', (config) => config.replace('    token: env', apiBase));
  const event = { id: 'evt_1', type: 'invoice.payment_failed', data: { object: { id: 'in_1' } } };
  const sent = await gateway.cli('webhook', 'test', 'payments', '--payload', JSON.stringify(event));
  assert.match(sent.stdout, /^200 \{"status":"delivered"/);
  const [text] = telegram.seen.map(({ json }) => (json as { text: string }).text);
  assert.equal(text, 'invoice.payment_failed: in_1\nhttps://dashboard.stripe.com/events/evt_1');
});

test('docs/alertmanager.md: a critical alert brings a message and what the agent says of it', async (t) => {
  const slack = await startFakeHttp(t, () => ({ body: 'ok' }));
  const gateway = await startPage(
    t,
    'alertmanager',
    (config) => config.replace('    webhook_url', `    api_base: ${slack.url}\n    webhook_url`),
    { SLACK_WEBHOOK_URL: `${slack.url}/services/T000/B000/x` },
  );
  const payload = `@${join(gateway.home, 'firing.json')}`;
  const sent = await gateway.cli('webhook', 'test', 'alerts', '--payload', payload);
  assert.match(sent.stdout, /^200 \{"status":"delivered"/, sent.stdout + sent.stderr);
  await gateway.cli('webhook', 'test', 'critical', '--payload', payload);
  await until(async () => slack.seen.length >= 2);
  const [message, opinion] = slack.seen.map(({ json }) => (json as { text: string }).text);
  assert.equal(message, 'firing: DiskFull\ndb1 is full in 4 hours\nhttp://alertmanager.example.com');
  assert.match(opinion ?? '', /"instance":"db1"[\s\S]*Free some space\./);
});

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8') || null;
  } catch {
    return null;
  }
}
