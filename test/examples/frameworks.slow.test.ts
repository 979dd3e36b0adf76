/**
 * Runs the web framework examples of examples/embed/README.md with frameworks that npm installs. Only with
 * `HOOKWRIGHT_LONG_TESTS=1`, because they install a hundred packages that nothing else needs.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { codeBlocks } from '../helpers/markdown.ts';
import { installPacked } from '../helpers/packed.ts';
import { ROOT } from '../helpers/root.ts';

const PACKAGES = [
  'express@5.3.0',
  'fastify@5.12.8',
  '@fastify/middie@9.3.6',
  'hono@4.13.19',
  '@hono/node-server@1.19.19',
];

/** Wraps the code of the README: `app`, a listener on a free port, and the path of the webhooks. */
const FRAMEWORKS: Readonly<
  Record<string, { readonly before: string; readonly after: string; readonly below: string }>
> = {
  express: {
    before: `import express from 'express'; const app = express();`,
    after: `app.use(express.json()); app.post('/own', (request, response) => { response.send(request.body); });
      const server = app.listen(0, '127.0.0.1'); await once(server, 'listening');
      const { port } = server.address(); const close = () => server.close();`,
    below: 'hooks/',
  },
  fastify: {
    before: `import fastify from 'fastify'; const app = fastify();`,
    after: `app.post('/own', (request) => request.body); await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address(); const close = () => app.close();`,
    below: '',
  },
  middie: {
    before: `import fastify from 'fastify'; import middie from '@fastify/middie'; const app = fastify();`,
    after: `app.post('/own', (request) => request.body); await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address(); const close = () => app.close();`,
    below: 'hooks/',
  },
  hono: {
    before: `import { Hono } from 'hono'; import { serve } from '@hono/node-server'; const app = new Hono();`,
    after: `app.post('/own', async (context) => context.json(await context.req.json()));
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }); await once(server, 'listening');
      const { port } = server.address(); const close = () => server.close();`,
    below: '',
  },
};

const COMMON = `import { createHmac } from 'node:crypto'; import { once } from 'node:events'; import { hookwright } from 'hookwright';
const secret = 'a secret of at least 16 bytes';
const routes = { issues: { prompt: '{issue.title}' } };
const hooks = await hookwright({
  config: { platforms: { webhook: { enabled: true, secret: 'env:WEBHOOK_SECRET', routes } } },
  env: { WEBHOOK_SECRET: secret }, store: ':memory:', agent: ({ prompt }) => prompt,
});
`;

const REQUESTS = `
const body = '{ "issue": { "title": "x" } }';
const signature = 'sha256=' + createHmac('sha256', secret).update(body).digest('hex');
const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature };
for (const [path, more] of [[below + 'webhooks/issues', {}], [below + 'webhooks/issues', { 'x-hub-signature-256': 'sha256=00' }], ['own', {}]]) {
  const response = await fetch(\`http://127.0.0.1:\${port}/\${path}\`, { method: 'POST', body, headers: { ...headers, ...more } });
  const { status, issue } = await response.json();
  console.log(response.status, status ?? issue.title);
}
close();
await hooks.stop({ drainMs: 1000 });
`;

const isLong = process.env.HOOKWRIGHT_LONG_TESTS === '1';

describe('the routes in a framework', { skip: isLong ? false : 'a long test' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookwright-frameworks-'));
  const app = join(folder, 'app');
  let missing: string | null = null;
  before(async () => {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...PACKAGES];
    const { status, stderr } = spawnSync('npm', install, { cwd: folder, encoding: 'utf8', timeout: 600_000 });
    if (status !== 0) missing = `NOT TESTED: the frameworks cannot be installed here: ${stderr.split('\n')[0]}`;
    // In a subfolder of the frameworks, with which it shares no dependency.
    await installPacked(app);
    writeFileSync(join(app, 'package.json'), '{"type":"module"}');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const blocks = codeBlocks(readFileSync(join(ROOT, 'examples/embed/README.md'), 'utf8'));
  for (const [name, program] of Object.entries(FRAMEWORKS)) {
    test(name, (t) => {
      if (missing !== null) {
        t.skip(missing);
        return;
      }
      const block = blocks.find(({ note }) => note === `file: ${name}.ts`);
      assert.ok(block);
      const entry = join(app, `${name}.ts`);
      writeFileSync(
        entry,
        [program.before, COMMON, block.text, program.after, `const below = '${program.below}';`, REQUESTS].join('\n'),
      );
      const { stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'node_modules/tsx/dist/cli.mjs'), entry], {
        ...{ cwd: app, encoding: 'utf8', timeout: 600_000, env: { PATH: process.env.PATH } },
      });
      assert.equal(stdout, '202 accepted\n401 error\n200 x\n', stderr);
    });
  }
});
