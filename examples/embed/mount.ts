/** Mounts the service in a server that is there already. Here node:http; README.md has Express, Hono and Fastify. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileText } from 'hookwright/compiler';
import type { Service } from 'hookwright/runtime';
import { createService } from 'hookwright/runtime';

/**
 * Answers a request of node:http, and so of Express and Fastify. Its body must not have been read: what is signed are its
 * bytes.
 */
export async function answerWith(service: Service, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headersDistinct, socket } = incoming;
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request(`http://${headers.get('host') ?? 'localhost'}${url}`, {
    method,
    headers,
    // What is not read of it must not end the connection before the answer.
    ...(hasBody && { body: incoming.iterator({ destroyOnReturn: false }), duplex: 'half' as const }),
  });
  const response = await service.handle(request, { address: socket.remoteAddress });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

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
