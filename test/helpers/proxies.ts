/** The proxies of the documents, run unchanged on this machine except for hosts, ports and certificates. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Ending } from './at-end.ts';
import { atEnd } from './at-end.ts';
import { freePort } from './free-port.ts';
import { until } from './gateway.ts';
import { codeBlocks } from './markdown.ts';
import { ROOT } from './root.ts';
import { tempDir } from './temp-dir.ts';

const HOST = 'localhost';
/** Debian installs nginx where only root searches. */
const PATH = `${process.env.PATH}:/usr/sbin`;

export type ProxyProgram = 'caddy' | 'nginx' | 'haproxy';

export interface ProxyOptions {
  /** The page that contains its configuration as `file: Caddyfile`, `file: nginx.conf` or `file: console/haproxy.cfg`. */
  readonly page: string;
  /** Replaces the document's addresses with those of this machine. */
  readonly upstreams: (text: string) => string;
}

export const isProxyHere = (program: ProxyProgram): boolean =>
  spawnSync(program, ['-h'], { env: { PATH } }).error === undefined;

/** A code block of a page of `docs/` that is a file. */
export function fileOf(page: string, file: string): string {
  const blocks = codeBlocks(readFileSync(join(ROOT, page), 'utf8'));
  const found = blocks.find(({ note }) => note === `file: ${file}`);
  assert.ok(found, `${page}: ${file}`);
  return found.text;
}

/** Each writes the configuration into `dir`, and returns the arguments that run it in the foreground. */
const PREPARE: Readonly<Record<ProxyProgram, (dir: string, port: number, options: ProxyOptions) => readonly string[]>> =
  {
    caddy(dir, port, { page, upstreams }) {
      const site = fileOf(page, 'Caddyfile').replace('hooks.example.com', `https://${HOST}:${port}`);
      const options = '{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tlocal_certs\n}\n';
      writeFileSync(join(dir, 'Caddyfile'), options + upstreams(site));
      return ['run', '--config', join(dir, 'Caddyfile')];
    },
    nginx(dir, port, { page, upstreams }) {
      const [key, certificate] = makeCertificate(dir);
      const server = fileOf(page, 'nginx.conf')
        .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
        .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
        .replace('hooks.example.com', HOST);
      return prepareNginx(dir, upstreams(server));
    },
    haproxy(dir, port, { page, upstreams }) {
      const pem = join(dir, 'site.pem');
      writeFileSync(
        pem,
        makeCertificate(dir)
          .map((path) => readFileSync(path, 'utf8'))
          .join(''),
      );
      const site = fileOf(page, 'console/haproxy.cfg')
        .replace('bind :443', `bind 127.0.0.1:${port}`)
        .replace('/etc/haproxy/site.pem', pem);
      const defaults =
        'defaults\n    mode http\n    timeout connect 5s\n    timeout client 60s\n    timeout server 10s\n\n';
      writeFileSync(join(dir, 'haproxy.cfg'), defaults + upstreams(site));
      return ['-db', '-f', join(dir, 'haproxy.cfg')];
    },
  };

/** Returns the paths of a new key and its certificate. */
function makeCertificate(dir: string): readonly [key: string, certificate: string] {
  const paths = [join(dir, 'key.pem'), join(dir, 'certificate.pem')] as const;
  const subject = ['-subj', `/CN=${HOST}`, '-keyout', paths[0], '-out', paths[1], '-days', '2'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  execFileSync('openssl', ['req', '-x509', '-nodes', ...curve, ...subject], { stdio: 'ignore' });
  return paths;
}

/** Writes its configuration, with the servers, into `dir`; returns the arguments that run it. */
function prepareNginx(dir: string, servers: string): readonly string[] {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`);
  const http = `http {\naccess_log off;\n${paths.join('\n')}\n${servers}}\n`;
  // As root it would start workers of another user, who may not enter the test's folder.
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  const main = `${user}daemon off;\npid ${dir}/pid;\nerror_log stderr;\nevents { worker_connections 16384; }\n${http}`;
  writeFileSync(join(dir, 'nginx.conf'), main);
  return ['-p', dir, '-e', 'stderr', '-c', join(dir, 'nginx.conf')];
}

/** Starts it on a free port. @returns the port, once it listens */
export async function startProxy(t: Ending, program: ProxyProgram, options: ProxyOptions): Promise<number> {
  const port = await freePort();
  const argv = (dir: string): readonly string[] => PREPARE[program](dir, port, options);
  await run(t, program, argv, () => askProxy(port, 'GET', '/', {}));
  return port;
}

/** An nginx without TLS that passes bodies on as they arrive. @returns its port, once it listens */
export async function startPlainNginx(t: Ending, upstream: number): Promise<number> {
  const port = await freePort();
  const location = [
    `proxy_pass http://127.0.0.1:${upstream};`,
    'proxy_http_version 1.1;',
    'proxy_request_buffering off;',
    'proxy_set_header Host $host;',
    'proxy_set_header X-Forwarded-For $remote_addr;',
  ];
  const server = `server { listen 127.0.0.1:${port} backlog=4096; location / { ${location.join(' ')} } }\n`;
  await run(
    t,
    'nginx',
    (dir) => prepareNginx(dir, server),
    () => fetch(`http://127.0.0.1:${port}/health`),
  );
  return port;
}

/** @param ask settles once the program listens */
async function run(
  t: Ending,
  program: ProxyProgram,
  argv: (dir: string) => readonly string[],
  ask: () => Promise<unknown>,
): Promise<void> {
  const dir = tempDir(t);
  mkdirSync(join(dir, 'data'));
  const env = { PATH, HOME: dir, XDG_DATA_HOME: join(dir, 'data'), XDG_CONFIG_HOME: dir };
  const child = spawn(program, argv(dir), { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  atEnd(t, async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
  });
  await until(async () => {
    assert.equal(child.exitCode, null, said);
    return ask().catch(() => null);
  });
}

/** @returns the status of the response; the path is sent unchanged */
export async function askProxy(
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
