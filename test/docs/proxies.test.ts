/** The Caddyfile and the nginx.conf of docs/proxies.md, run in front of a gateway; only hosts, ports and certificates are changed. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import { createServer, request as requestPlain } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { before, describe, test } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';
import { startGateway, until } from '../helpers/gateway.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const blocks = codeBlocks(readFileSync(join(ROOT, 'docs/proxies.md'), 'utf8'));
const blockOf = (file: string): string => {
  const found = blocks.find(({ note }) => note === `file: ${file}`);
  assert.ok(found, file);
  return found.text;
};

const HOST = 'localhost';
const SECRET = 'a-secret-behind-a-proxy-1234567890';
const MEBIBYTE = 1024 * 1024;

interface Proxy {
  readonly program: string;
  /** Arguments that run it in the foreground with the document's configuration. */
  readonly prepare: (dir: string, port: number, upstream: string) => readonly string[];
}

const PROXIES: readonly Proxy[] = [
  {
    program: 'caddy',
    prepare: (dir, port, upstream) => {
      const site = blockOf('Caddyfile').replace('hooks.example.com', `https://${HOST}:${port}`);
      const options = '{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tlocal_certs\n}\n';
      writeFileSync(join(dir, 'Caddyfile'), options + site.replace('127.0.0.1:8644', upstream));
      return ['run', '--config', join(dir, 'Caddyfile')];
    },
  },
  {
    program: 'nginx',
    prepare: (dir, port, upstream) => {
      const key = join(dir, 'key.pem');
      const certificate = join(dir, 'certificate.pem');
      const subject = ['-subj', `/CN=${HOST}`, '-keyout', key, '-out', certificate, '-days', '2'];
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
      execFileSync('openssl', ['req', '-x509', '-nodes', ...curve, ...subject], { stdio: 'ignore' });
      const server = blockOf('nginx.conf')
        .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
        .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
        .replace('hooks.example.com', HOST)
        .replace('127.0.0.1:8644', upstream);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${dir}/${name};`,
      );
      const http = `http {\naccess_log off;\n${paths.join('\n')}\n${server}}\n`;
      // As root it would start workers of another user, who may not enter the test's folder.
      const user = process.getuid?.() === 0 ? 'user root;\n' : '';
      const main = `${user}daemon off;\npid ${dir}/pid;\nerror_log stderr;\nevents {}\n${http}`;
      writeFileSync(join(dir, 'nginx.conf'), main);
      return ['-p', dir, '-e', 'stderr', '-c', join(dir, 'nginx.conf')];
    },
  },
];

/** Debian keeps nginx where only root looks. */
const PATH = `${process.env.PATH}:/usr/sbin`;
const isThere = ({ program }: Proxy): boolean => spawnSync(program, ['-h'], { env: { PATH } }).error === undefined;

for (const proxy of PROXIES) {
  const isMissing = !isThere(proxy);
  describe(`${proxy.program} as docs/proxies.md has it`, { skip: isMissing && process.env.CI !== 'true' }, () => {
    before(() => assert.ok(!isMissing, `${proxy.program} is not installed: apt-get install ${proxy.program}`));
    test('lets events through and nothing else, up to the size of a body, and says who asks', (t) => check(t, proxy));
  });
  if (isMissing) console.error(`SKIPPED: ${proxy.program} is not here; docs/proxies.md was not tried with it`);
}

async function check(t: TestContext, proxy: Proxy): Promise<void> {
  const home = tempDir(t);
  const config = blockOf('hookwright.yaml');
  const gateway = await startGateway(t, { home, config, env: { WEBHOOK_SECRET: SECRET } });
  const between = await startBetween(t, gateway.url);
  const port = await startProxy(t, proxy, `127.0.0.1:${between.port}`);

  const payload = (size: number): string => JSON.stringify({ name: 'x'.repeat(size - '{"name":""}'.length) });
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${SECRET}`,
    'x-forwarded-for': '203.0.113.9',
  };
  const event = { ...headers, 'x-gitlab-token': SECRET };
  assert.equal(await ask(port, 'POST', '/webhooks/hello', event, '{"name":"Jo"}'), 202);
  const [first] = between.seen;
  assert.equal(first?.url, '/webhooks/hello');
  const hops = String(first?.headers['x-forwarded-for']).split(',');
  assert.match(hops.at(-1)?.trim() ?? '', /^(127\.0\.0\.1|::1)$/, 'the last hop is who asks, whatever it says itself');

  assert.equal(await ask(port, 'POST', '/webhooks/hello', event, payload(MEBIBYTE)), 202);
  assert.equal(await ask(port, 'POST', '/webhooks/hello', { ...headers, 'x-gitlab-token': 'wrong' }, '{}'), 401);
  const seen = between.seen.length;
  for (const path of ['/', '/health', '/blueprints', '/webhooks/../health', '/p/support/webhooks/hello']) {
    assert.equal(await ask(port, 'GET', path, {}), 404, path);
  }
  assert.equal(between.seen.length, seen, 'nothing of that reached the gateway');
  assert.equal(await ask(port, 'POST', '/webhooks/hello', event, payload(MEBIBYTE + 1)), 413);
}

interface Between {
  readonly port: number;
  readonly seen: IncomingMessage[];
}

/** Stands between proxy and gateway, passes everything on, and remembers what the proxy let through. */
async function startBetween(t: TestContext, gateway: string): Promise<Between> {
  const seen: IncomingMessage[] = [];
  const server = createServer((incoming, response) => {
    seen.push(incoming);
    const { method, headers, url } = incoming;
    const onward = requestPlain(gateway + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => server.closeAllConnections());
  atEnd(t, () => server.close());
  return { port: portOf(server), seen };
}

/** Starts it on a free port. @returns the port, once it listens */
async function startProxy(t: TestContext, { program, prepare }: Proxy, upstream: string): Promise<number> {
  const dir = tempDir(t);
  mkdirSync(join(dir, 'data'));
  const port = await freePort();
  const env = { PATH, HOME: dir, XDG_DATA_HOME: join(dir, 'data'), XDG_CONFIG_HOME: dir };
  const child = spawn(program, prepare(dir, port, upstream), { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  atEnd(t, async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
  });
  await until(async () => {
    assert.equal(child.exitCode, null, said);
    return ask(port, 'GET', '/', {}).catch(() => null);
  });
  return port;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** @returns the status of the answer; the path is sent as it is written */
async function ask(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Promise<number> {
  const options = { host: HOST, port, method, path, headers, rejectUnauthorized: false, agent: false as const };
  const sent = request(options).end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}
