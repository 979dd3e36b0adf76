/** Senders of webhooks and their signatures. */
import { createHmac } from 'node:crypto';
import { until } from '../../helpers/gateway.ts';
import type { Story } from './story.ts';

const SECRET = 'the-secret-that-a-code-host-signs-with';
const SENT = 'secret_that_the_sender_makes_and_sends';
const BODY = '{"ref":"main"}';
const SIGNATURE = createHmac('sha256', SECRET).update(BODY).digest('hex');

export const sources: Story = {
  about: 'a sender is found, its signature is checked, and its secret is enrolled',
  files: {
    'hookwright.yaml': `platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:WEBHOOK_SECRET
    routes:
      pages: { source: notion, secret: "file:secrets/pages", prompt: "{type}" }
`,
    'home/.env': `WEBHOOK_SECRET=${SECRET}\n`,
    'home/secrets/pages': 'a-random-value-to-begin-with\n',
    'request.http': `POST /webhooks/x HTTP/1.1\r\nHost: example.test\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\nX-Hub-Signature-256: sha256=${SIGNATURE}\r\n\r\n${BODY}`,
  },
  secrets: [SECRET, SENT, 'a-random-value-to-begin-with'],
  steps: [
    { run: 'source list gitlab', out: /^SOURCE +SENDER +SIGNS WITH[\s\S]*^gitlab +GitLab /m },
    { run: 'source list --json', json: true, out: /"name": "stripe"/ },
    { run: 'source show github', out: /^GitHub \(github, also called forgea\)\nSignature: +HMAC-SHA256 / },
    { run: 'source shape github push --prefix pusher.n', out: /^PATH +TYPE +CLASS\npusher\.name +string +identifier/ },
    { run: 'source shape github', out: /^EVENT +PATHS +ACTIONS\n/, err: /^exact: .*@octokit\/webhooks-schemas/ },
    { run: 'source shape notion', code: 1, err: /^error: .*"notion"/ },
    {
      run: 'source learn shop --from request.http',
      out: /^# The payloads of shop[\s\S]*\n {2}ref:\n/,
      err: /shape: <file>/,
    },
    { run: 'source show githup', code: 1, err: /^error: there is no source "githup"/ },
    {
      run: 'source detect request.http --secret env:WEBHOOK_SECRET',
      out: /^github +.*\n/,
      err: /On the route: source: github\. /,
    },
    {
      run: 'source detect request.http --secret the-wrong-secret',
      code: 1,
      out: /^github +.*does not match this secret/,
    },
    { run: 'source enroll pages', code: 1, err: /--yes/ },
    { run: 'source enroll pages --yes', code: 1, err: /no gateway is running/ },
    { run: 'gateway start', out: /./, err: /^started /m, keep: { url: /^(\S+)/ } },
    { run: 'source enroll unknown', code: 1, err: /^error: there is no route "unknown"/ },
    {
      run: 'source enroll pages --yes',
      out: '…/home/secrets/pages\n',
      err: 'waiting for notion: …\n…\n…\n…\n',
      modes: { 'home/secrets/pages': 0o600 },
      when: [/with the URL (\S+)\n/, ({ shown }) => sendSecret(shown)],
    },
    { run: 'webhook test pages', out: /^202 /, err: /^POST .* \(notion/ },
    { run: 'gateway stop', err: 'stopped\n' },
  ],
};

/** Sends the handshake until the command waits for it. */
async function sendSecret(url: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ verification_token: SENT });
  await until(async () => (await fetch(url, { method: 'POST', headers, body })).status === 200);
}
