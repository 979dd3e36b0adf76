/** Accepts webhooks and the program's own events, and answers them with a function. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hookwright } from 'hookwright';

const secret = 'a secret of at least 16 bytes';

const hooks = await hookwright({
  config: `
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      issues:
        source: github
        events: [issues]
        prompt: "Triage issue {issue.number}: {issue.title}"
`,
  env: { WEBHOOK_SECRET: secret },
  store: ':memory:',
  agent: async ({ prompt, session }) => `answer to "${prompt}" in ${session}`,
});
const finished = new Promise<string>((resolve) => hooks.on('finished', ({ state }) => resolve(state)));

/** Creates an event like the code host. */
function event(base: string): Request {
  const body = JSON.stringify({ action: 'opened', issue: { number: 7, title: 'It does not start' } });
  return new Request(`${base}/webhooks/issues`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'issues',
      'x-github-delivery': '1',
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  });
}

// Over HTTP, in the program's server …
const server = createServer(hooks.node).listen(0, '127.0.0.1');
await once(server, 'listening');
const first = await fetch(event(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
console.log(first.status, await first.text());

// … as a Request, in a server based on fetch (here the same event again) …
const second = await hooks.fetch(event('http://app.example'));
console.log(second.status, await second.text());
console.log('dispatch:', await finished);

// … or without HTTP and signature, from the program itself.
const issue = { number: 8, title: 'It does not stop' };
const { outcome } = await hooks.emit('issues', { issue }, { event: 'issues', deliveryId: '2' });
console.log('emitted:', outcome);
console.log('pushed:', (await hooks.emit('issues', {}, { event: 'push' })).reason);

server.close();
await hooks.stop({ drainMs: 5_000 });
