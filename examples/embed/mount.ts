/** Mounts the webhooks in the program's server, here node:http. README.md shows Express, Fastify and Hono. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hookwright } from 'hookwright';

const hooks = await hookwright({
  config: {
    platforms: { webhook: { enabled: true, secret: 'env:SECRET', routes: { issues: { prompt: '{issue.title}' } } } },
  },
  env: { SECRET: 'a secret of at least 16 bytes' },
  store: ':memory:',
});

const server = createServer((request, response) => {
  hooks.node(request, response, () => response.end('hello from the app'));
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

for (const path of ['/webhooks/nothing', '/webhooks/issues']) {
  const response = await fetch(url + path, { method: 'POST', body: '{"issue":{"title":"x"}}' });
  console.log(response.status, await response.text());
}
console.log(await (await fetch(url)).text());

server.close();
await hooks.stop({ drainMs: 1_000 });
