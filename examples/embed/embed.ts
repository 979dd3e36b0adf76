/** A program that takes signed webhooks and answers them with a function of its own: compile, serve, receive, stop. */
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileText, printDiagnostics } from 'hookwright/compiler';
import { createService } from 'hookwright/runtime';

const yaml = `
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      issues:
        events: [issues]
        prompt: "Triage issue {issue.number}: {issue.title}"
`;

const home = await mkdtemp(join(tmpdir(), 'embed-'));
const env = { WEBHOOK_SECRET: 'a secret of at least 16 bytes' };

const { table, blueprints, diagnostics } = await compileText(yaml, { file: 'hookwright.yaml', home, env });
process.stderr.write(printDiagnostics('pretty', diagnostics, { color: false, width: 100 }));
if (table === null) throw new Error('the configuration has errors');

const service = await createService({
  table,
  blueprints,
  home,
  env,
  agent: async ({ prompt, session }) => `answer to "${prompt}" in ${session}`,
});
const finished = new Promise<string>((resolve) => service.on('finished', ({ state }) => resolve(state)));

/** As the code host would send it. */
function event(base: string): Request {
  const body = JSON.stringify({ action: 'opened', issue: { number: 7, title: 'It does not start' } });
  return new Request(`${base}/webhooks/issues`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'issues',
      'x-github-delivery': '1',
      'x-hub-signature-256': `sha256=${createHmac('sha256', env.WEBHOOK_SECRET).update(body).digest('hex')}`,
    },
  });
}

// Over HTTP …
const { url } = await service.listen({ host: '127.0.0.1', port: 0 });
const first = await fetch(event(url));
console.log(first.status, await first.text());

// … or from a server that the program has already; here the same event again.
const second = await service.handle(event('http://app.example'));
console.log(second.status, await second.text());

console.log('dispatch:', await finished);
const { dispatches } = await service.status();
console.log('done:', dispatches?.states.done);

await service.stop({ drainMs: 5_000 });
await rm(home, { recursive: true });
