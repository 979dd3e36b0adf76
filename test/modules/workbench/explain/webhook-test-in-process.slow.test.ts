/** Tests `webhook test --dry-run`, confirmation of messages, and missing payloads. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { CliContext } from '../../../../cli/base/context.ts';
import type { CliResult } from '../../../helpers/cli.ts';
import { runInProcess, runOnFakeTerminal } from '../../../helpers/cli.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      paid:
        filters: [{ field: amount, exists: true }]
        prompt: "Paid {amount} by {data.object.customer_email}"
        deliver: log
`;

const COMMENTS = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      paid:
        events: [push]
        prompt: "Paid {amount}"
        deliver: github_comment
        deliver_extra: { repo: "{repository.full_name}", pr_number: "{number}" }
      fires: { cron_job: report, prompt: x }
      fails: { prompt: x, on_failure: { deliver: github_comment, deliver_extra: { repo: "{repository.full_name}", pr_number: "{number}" } } }
      hands:
        prompt: x
        outputs: { note: { deliver: github_comment, repo: "{repository.full_name}", pr_number: "{number}" } }
      near: { prompt: x, deliver: telegram }
  github_comment: { enabled: true }
  telegram: { enabled: true, token: "1:a", home_channel: "-5", api_base: "http://127.0.0.1:9" }
jobs:
  report: { schedule: "0 7 * * *", prompt: x, deliver: github_comment, deliver_extra: { repo: o/r, pr_number: 1 } }
`;

/** The requests that a command sends, and its result. */
async function sending(t: TestContext, argv: readonly string[], answers?: readonly (readonly [string, string])[]) {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), COMMENTS, { mode: 0o600 });
  const sent: Headers[] = [];
  const fetch: CliContext['fetch'] = async (_url, request) => {
    sent.push(new Headers(request?.headers as Record<string, string>));
    return new Response('{"status":"accepted"}', { status: 202 });
  };
  const options = { home, env: { WEBHOOK_SECRET: '51c7a0f2d98e4b36a1' }, context: { fetch } };
  const words = ['webhook', 'test', ...argv];
  const result =
    answers === undefined ? await runInProcess(words, options) : await runOnFakeTerminal(words, answers, options);
  return { ...result, sent };
}

test('does not send messages for a made-up payload without confirmation, and names their targets', async (t) => {
  const refused = await sending(t, ['paid']);
  assert.deepEqual([refused.code, refused.sent.length], [1, 0]);
  assert.match(refused.stderr, /\bgithub_comment repo=\S+ pr_number=\d+\n.*--yes$/m);
  assert.match((await sending(t, ['fires'])).stderr, /\bgithub_comment$/m);
  for (const route of ['fails', 'hands'])
    assert.match((await sending(t, [route])).stderr, /\bgithub_comment repo=\S+ pr_number=\d+$/m);
  for (const argv of [['paid', '--yes'], ['paid', '--payload', '{"amount": 5}'], ['near']]) {
    const { code, sent, stderr } = await sending(t, argv);
    assert.deepEqual([code, sent.length], [0, 1], `${argv.join(' ')}: ${stderr}`);
  }
});

test('asks for confirmation on a terminal', async (t) => {
  const no = await sending(t, ['paid'], [['Send it?', '\r']]);
  assert.deepEqual([no.code, no.sent.length], [1, 0]);
  const yes = await sending(t, ['paid'], [['Send it?', 'y']]);
  assert.deepEqual([yes.code, yes.sent.length], [0, 1]);
});

test('without a source, the event has the name from the route', async (t) => {
  const { sent, stderr } = await sending(t, ['paid', '--yes']);
  assert.match(stderr, /^POST \S+ \(github, push\)$/m);
  assert.equal(sent[0]?.get('x-github-event'), 'push');
});

async function run(t: TestContext, ...argv: string[]): Promise<CliResult> {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  return runInProcess(['webhook', 'test', 'paid', ...argv], { home, env: { WEBHOOK_SECRET: '51c7a0f2d98e4b36a1' } });
}

test('a dry run prints the prompt and unresolved placeholders, without sending and without a gateway', async (t) => {
  const { code, stdout, stderr } = await run(t, '--payload', '{"amount": 5}', '--dry-run');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /Paid 5 by \{data\.object\.customer_email\}/);
  assert.doesNotMatch(stdout + stderr, /51c7a0f2d98e4b36a1|POST http/);
});

test('a dry run of an event that is not accepted exits 1, and supports --json', async (t) => {
  const { code, stdout } = await run(t, '--payload', '{}', '--dry-run', '--json');
  assert.equal(code, 1);
  assert.equal((JSON.parse(stdout) as { reason: string }).reason, 'filter');
});

test('a dry run names all missing secrets, like `serve`, and exits 1', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), COMMENTS.replace('"1:a"', 'env:TG_TOKEN'), { mode: 0o600 });
  for (const json of [[], ['--json']]) {
    const { code, stdout } = await runInProcess(['webhook', 'test', 'near', '--dry-run', ...json], { home, env: {} });
    assert.equal(code, 1);
    assert.match(stdout, /near.*env:WEBHOOK_SECRET[\s\S]*telegram[^\n]*env:TG_TOKEN/);
  }
});

test('reports a missing payload file with its path', async (t) => {
  const { code, stderr } = await run(t, '--payload', '@gone.json');
  assert.equal(code, 1);
  assert.match(stderr, /^error: .*`gone\.json`.*\n.*\/gone\.json\n$/);
});

/** The spelling of `events`, and the sender and event of the test event. */
const SPELLINGS: readonly (readonly [string, string, string])[] = [
  ['Push Hook', 'gitlab', 'Push Hook'],
  ['push', 'github', 'push'],
  ['merge_request', 'gitlab', 'Merge Request Hook'],
  ['merge_req*', 'gitlab', 'Merge Request Hook'],
  ['pull_request*', 'github', 'pull_request'],
  ['{tag_push,nothing}', 'gitlab', 'Tag Push Hook'],
  ['order.*', 'github', 'order.'],
  ['*.paid', 'github', 'test.paid'],
  ['[ab]?c', 'github', 'aac'],
];

for (const secret of ['env:WEBHOOK_SECRET', 'INSECURE_NO_AUTH']) {
  test(`the route accepts the test event for any spelling of \`events\`, with ${secret}`, async (t) => {
    const home = tempDir(t);
    const routes = SPELLINGS.map(
      ([entry], index) => `      r${index}: { secret: ${secret}, events: [${JSON.stringify(entry)}], prompt: "{a}" }\n`,
    );
    writeFileSync(
      join(home, 'config.yaml'),
      `platforms:\n  webhook:\n    enabled: true\n    routes:\n${routes.join('')}`,
      { mode: 0o600 },
    );
    for (const [index, [entry, sender, event]] of SPELLINGS.entries()) {
      const sent: Headers[] = [];
      const fetch: CliContext['fetch'] = async (_url, request) => {
        sent.push(new Headers(request?.headers as Record<string, string>));
        return new Response('{"status":"accepted"}', { status: 202 });
      };
      const options = { home, env: { WEBHOOK_SECRET: '51c7a0f2d98e4b36a1' }, context: { fetch } };
      const dry = await runInProcess(['webhook', 'test', `r${index}`, '--dry-run', '--json'], options);
      assert.match(dry.stdout, /"outcome": ?"accepted"/, `${entry}: ${dry.stdout}${dry.stderr}`);
      await runInProcess(['webhook', 'test', `r${index}`], options);
      assert.equal(sent[0]?.get(`x-${sender}-event`), event, entry);
    }
  });
}

test('requires --event if no event can be derived from a glob', async (t) => {
  const home = tempDir(t);
  const route = `r: { secret: env:WEBHOOK_SECRET, events: ["a\\\\*"], prompt: x }`;
  writeFileSync(join(home, 'config.yaml'), `platforms: { webhook: { enabled: true, routes: { ${route} } } }`);
  const { code, stderr } = await runInProcess(['webhook', 'test', 'r'], { home, env: { WEBHOOK_SECRET: '51c7a0f2' } });
  assert.equal(code, 1);
  assert.match(stderr, /--event/);
});
