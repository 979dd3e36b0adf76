/** Mounts the service in a server of the program: here node:http; README.md has Express, Fastify and Hono. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileText } from 'hookwright/compiler';
import { createService } from 'hookwright/runtime';
import { answerWith } from './answer-with.js';

const yaml = `
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      issues: { events: [issues], prompt: "{issue.title}" }
`;

const home = await mkdtemp(join(tmpdir(), 'mount-'));
const env = { WEBHOOK_SECRET: 'a secret of at least 16 bytes' };
const { table } = await compileText(yaml, { home, env });
if (table === null) throw new Error('the configuration has errors');
const service = await createService({ table, home, env });

const server = createServer((request, response) => {
  if (/^\/(webhooks|p)\//.test(request.url ?? '')) void answerWith(service, request, response);
  else response.end('hello from the app');
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

for (const path of ['/webhooks/nothing', '/webhooks/issues']) {
  const response = await fetch(url + path, { method: 'POST', body: '{"issue":{"title":"x"}}' });
  console.log(response.status, await response.text());
}
console.log(await (await fetch(url)).text());

server.close();
await service.stop({ drainMs: 1_000 });
await rm(home, { recursive: true });
