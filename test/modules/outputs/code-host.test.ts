/** A gateway triages issues of a fake GitHub as an app: outputs, upserts over a restart, and its own events. */
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { compileText } from '../../../main/compiler.ts';
import { createService } from '../../../main/runtime.ts';
import type { Service } from '../../../runtime/service/options.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { FakeGitHub } from '../../helpers/fake-github.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { handleAgain } from '../../helpers/send-again.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-secret-of-the-code-host';
const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = KEYS.privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
const REPO = 'octo-org/shop';

const config = (api: string): string => `
platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      triage:
        source: github
        events: [issues, issue_comment]
        session_key: "{repository.full_name}#{issue.number}"
        prompt: "Triage: {issue.title}"
        deliver: log
        outputs:
          label: { deliver: github_labels, repo: "{repository.full_name}", number: "{issue.number}", allow: { labels: [bug, docs] }, max: 2 }
          comment: { deliver: github_comment, repo: "{repository.full_name}", pr_number: "{issue.number}", mode: upsert }
          note: { deliver: github_comment, repo: "{repository.full_name}", pr_number: "{issue.number}" }
      review:
        source: github
        events: [pull_request]
        fresh: "{pull_request.head.sha}"
        prompt: "Review: {pull_request.title}"
        deliver: github_comment
        deliver_extra: { repo: "{repository.full_name}", pr_number: "{number}" }
        outputs:
          review: { deliver: github_review, repo: "{repository.full_name}", pr_number: "{number}" }
          told: { deliver: log }
  github: { enabled: true, app_id: 77, private_key: env:APP_KEY, api_base: "${api}" }
`;

async function startGateway(t: TestContext, api: string, home: string, lines: () => readonly unknown[]) {
  // Environment variables often contain keys in this form.
  const env = { SECRET, APP_KEY: PEM.replaceAll('\n', '\\n') };
  const { table, diagnostics } = await compileText(config(api), { home, env });
  assert.ok(table !== null, diagnostics.map(({ message }) => message).join('\n'));
  const log = recordLog();
  const service = await createService({
    ...{ table, home, env, log },
    agent: ({ outputs }) => {
      outputs?.take(lines().map((line) => JSON.stringify(line)));
      return 'triaged';
    },
  });
  atEnd(t, () => service.stop({ drainMs: 0 }));
  service.start();
  return { service, log };
}

let sent = 0;
async function send(
  service: Service,
  event: string,
  payload: Record<string, unknown>,
  route = 'triage',
): Promise<Record<string, unknown>> {
  const issue = { number: 7, title: 'It is broken', body: '' };
  const body = JSON.stringify({ action: 'opened', issue, repository: { full_name: REPO }, ...payload });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': `delivery-${++sent}`,
    'x-hub-signature-256': `sha256=${signature}`,
  };
  const request = new Request(`http://localhost/webhooks/${route}`, { method: 'POST', body, headers });
  return (await (await handleAgain(service, request)).json()) as Record<string, unknown>;
}

test('adds labels and one comment whatever the issue says, and does not answer itself', async (t) => {
  const github = await new FakeGitHub().start(t);
  const installations = new Map([['octo-org', 501]]);
  github.apps.set('77', { slug: 'triage-app', publicKey: KEYS.publicKey, installations, suspended: new Set() });
  const home = tempDir(t);
  let text = 'first';
  const lines = () => [
    { output: 'label', labels: ['bug'], repo: 'evil/repo', number: '1' },
    { output: 'label', labels: ['bug', 'merge'] },
    { output: 'comment', text: `${text} @octo-org/everybody`, repo: 'evil/repo', mode: 'new' },
    { output: 'comment', text: 'and again' },
    { output: 'delete', repo: REPO },
  ];
  const { service, log } = await startGateway(t, github.url, home, lines);
  const alice = { login: 'alice', type: 'User' };
  assert.equal((await send(service, 'issues', { sender: alice })).status, 'accepted');
  await until(async () => github.posts.length === 1 && github.labels.size === 1);
  assert.deepEqual([...github.labels], [[`${REPO}#7`, new Set(['bug'])]]);
  const [post] = github.posts;
  assert.deepEqual([post?.repo, post?.of, post?.login], [REPO, '7', 'triage-app[bot]']);
  assert.match(post?.body ?? '', /^first @\u200Bocto-org\/everybody\n\n<!-- delivery:/);

  // Events that the host sends back: the label is recognized by the app's account, the comment by its marker.
  const app = { login: 'triage-app[bot]', type: 'Bot' };
  const ignored = { status: 'ignored', reason: 'loop', route: 'triage' };
  const labelled = await send(service, 'issues', { action: 'labeled', label: { name: 'bug' }, sender: app });
  assert.deepEqual(labelled, { ...ignored, event: 'issues' });
  const comment = { id: 1000, body: post?.body, user: alice };
  const commented = await send(service, 'issue_comment', { action: 'created', comment, sender: alice });
  assert.deepEqual(commented, { ...ignored, event: 'issue_comment' });

  await service.stop({ drainMs: 5000 });
  text = 'second';
  const again = await startGateway(t, github.url, home, lines);
  const answer = { id: 1001, body: 'Any news?', user: alice };
  assert.equal(
    (await send(again.service, 'issue_comment', { action: 'created', comment: answer, sender: alice })).status,
    'accepted',
  );
  await until(async () => post?.body.startsWith('second') === true);
  assert.equal(github.posts.length, 1);
  // One token per gateway process.
  assert.equal(github.count(/access_tokens/), 2);
  const said = JSON.stringify([log.lines, again.log.lines]);
  assert.doesNotMatch(said, /PRIVATE KEY|ghs_|eyJ/);
});

test('looks for an unfinished comment after a restart, and does not post it twice', async (t) => {
  const github = await new FakeGitHub().start(t);
  const installations = new Map([['octo-org', 501]]);
  github.apps.set('77', { slug: 'triage-app', publicKey: KEYS.publicKey, installations, suspended: new Set() });
  const home = tempDir(t);
  const lines = () => [{ output: 'note', text: 'once' }];
  const first = await startGateway(t, github.url, home, lines);
  // Posted, but without a response.
  github.next.push((_, usual) => {
    usual();
    return () => {};
  });
  await send(first.service, 'issues', { sender: { login: 'alice', type: 'User' } });
  await until(async () => github.posts.length === 1);
  await first.service.stop({ drainMs: 0 });
  const second = await startGateway(t, github.url, home, lines);
  await until(async () => second.log.lines.some(({ message }) => message === 'delivered'));
  assert.equal(github.count(/^GET .*\/comments$/), 1);
  assert.equal(github.posts.length, 1);
});

test('posts nothing about a commit that is no longer the head, and neither retries nor reports it', async (t) => {
  const [old, head] = ['6dcb09b5b57875f334f61aebed695e2e4193db5e', 'ab'.repeat(20)];
  const github = await new FakeGitHub().start(t);
  const installations = new Map([['octo-org', 501]]);
  github.apps.set('77', { slug: 'triage-app', publicKey: KEYS.publicKey, installations, suspended: new Set() });
  const lines = () => [
    { output: 'review', text: 'Looks good' },
    { output: 'told', text: 'reviewed' },
  ];
  const { service, log } = await startGateway(t, github.url, tempDir(t), lines);
  const sendEvent = async (sha: string, message: string) => {
    const pull_request = { number: 7, title: 'A change', head: { sha } };
    const sender = { login: 'alice', type: 'User' };
    await send(service, 'pull_request', { number: 7, pull_request, sender }, 'review');
    const targets = () =>
      log.lines.flatMap(({ message: said, fields: { target } }) =>
        said === message && target !== 'log' ? [String(target)] : [],
      );
    await until(async () => targets().length === 2);
    return targets().sort();
  };
  github.heads.set(`${REPO}#7`, old);
  assert.deepEqual(await sendEvent(old, 'delivered'), ['github_comment', 'github_review']);
  assert.deepEqual(github.posts.map(({ kind, sent }) => [kind, sent.commit_id]).sort(), [
    ['comment', undefined],
    ['review', old],
  ]);
  github.heads.set(`${REPO}#7`, head);
  const unsent = await sendEvent(old, 'not sent: what it is about has changed');
  assert.deepEqual(unsent, ['github_comment', 'github_review']);
  assert.equal(github.posts.length, 2);
  assert.equal(github.count(/^GET .*\/pulls\/7$/), 2);
  assert.deepEqual(
    log.lines.filter(({ level }) => level === 'warn' || level === 'error'),
    [],
  );
});
