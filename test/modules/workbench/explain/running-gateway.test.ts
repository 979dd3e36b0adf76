/** Tests that `explain` agrees with a running gateway that has a store, scripts and targets. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Explanation } from '../../../../schemas/generated/types.ts';
import { startFakeHttp } from '../../../helpers/fake-http.ts';
import { startGateway } from '../../../helpers/gateway.ts';
import { sendAgain } from '../../../helpers/send-again.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'the-secret-of-both-sides';

const config = (messenger: string): string => `
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
      direct:
        deliver: telegram
        deliver_only: true
        prompt: "to {chat.id}"
        deliver_extra: { chat_id: "{chat.id}" }
      comment:
        deliver: github_comment
        deliver_only: true
        prompt: x
        deliver_extra: { repo: "{repo}", pr_number: "{number}" }
      paused: { cron_job: report, prompt: x }
      fires: { cron_job: other, prompt: x }
      verified: { script: verify.sh, prompt: "{verdict}" }
      listed:
        filters: { field: user, in_file: users.txt }
        prompt: "hello {user}"
  telegram: { enabled: true, token: "1:a", api_base: "${messenger}" }
  github_comment: { enabled: true }
jobs:
  report: { schedule: "0 7 * * *", prompt: report, paused: true }
  other: { schedule: "0 7 * * *", prompt: other }
`;

const SCRIPT = `read body
case "$body" in
  *no*) echo '[SILENT]' ;;
  *bad*) exit 4 ;;
  *) echo '{"verdict": "fine"}' ;;
esac
`;

const CASES: readonly (readonly [route: string, payload: unknown])[] = [
  ['direct', { chat: { id: -5 } }],
  ['direct', {}],
  ['comment', { repo: 'not a repository', number: 3 }],
  ['comment', { repo: 'o/r' }],
  ['paused', {}],
  ['fires', {}],
  ['verified', { text: 'yes' }],
  ['verified', { text: 'no' }],
  ['verified', { text: 'bad' }],
  ['listed', { user: 'ada' }],
  ['listed', { user: 'eve' }],
  ['listed', {}],
];

test('explain agrees with the gateway about direct deliveries, jobs, scripts and lists', async (t) => {
  const messenger = await startFakeHttp(t, () => ({
    body: { ok: true, result: { message_id: 7, chat: { id: -1 }, date: 1, text: 'x' } },
  }));
  const home = tempDir(t);
  mkdirSync(join(home, 'scripts'));
  writeFileSync(join(home, 'scripts/verify.sh'), SCRIPT);
  chmodSync(join(home, 'scripts/verify.sh'), 0o755);
  writeFileSync(join(home, 'users.txt'), 'ada\nbob\n');
  const gateway = await startGateway(t, { home, config: config(messenger.url) });
  for (const [route, payload] of CASES) {
    const body = JSON.stringify(payload);
    const digest = createHmac('sha256', SECRET).update(body).digest('hex');
    const response = await sendAgain(`${gateway.url}/webhooks/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${digest}` },
      body,
    });
    const answered = (await response.json()) as { status: string; code?: string; reason?: string };
    const argv = ['explain', route, '--payload', body, '--run-script', '--json'];
    const { stdout, stderr, code } = await gateway.cli(...argv);
    const found = JSON.parse(stdout || 'null') as Explanation | null;
    assert(found !== null, stderr);
    assert.deepEqual(
      [found.status, found.outcome, found.outcome === 'ignored' ? found.reason : undefined],
      [response.status, answered.code ?? answered.status, answered.reason],
      `${route} ${body}`,
    );
    assert.equal(code, response.ok && answered.status !== 'ignored' ? 0 : 1);
  }
});
