/** Tests that no response reveals a guarded secret, however a host spells it and wherever it is cut. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { reveals, SPELLINGS } from '../../helpers/secret-spellings.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';

type Response = Readable & { readonly statusCode: number; readonly headers: IncomingHttpHeaders };
type Options = Readonly<Record<string, unknown>> & { readonly headers: Readonly<Record<string, string>> };
type Request = (options: Options, respond: (response: Response) => void) => object;

const { guardSecrets } = (await import(
  new URL('../../../modules/sandbox/runtime/guarded-secrets.mjs', import.meta.url).href
)) as { readonly guardSecrets: (request: Request, secrets: readonly object[], isPlain?: boolean) => Request };

const KEYS = {
  'of a model': 'sk-ant-api03-9Qz_T+w/4kxAa0L2=bN7dataD7yD',
  'with special characters': `a&b<c>d"e'f/g%h\\i+u0041`,
  short: 'u25x5cda',
  'of punctuation': '!"#$(\')*,.:;=?@[]^_`{|}~-+/',
  long: Array.from({ length: 12 }, (_, at) => `${(at * 7919).toString(36)}.X${at}`).join('/'),
};
const PLACEHOLDER = 'placeholder';
const GUARDED = { placeholder: PLACEHOLDER, hosts: ['api.example.com:443'], headers: ['authorization'], body: false };
const TO_HOST = { servername: 'api.example.com', port: 443, headers: { authorization: `Bearer ${PLACEHOLDER}` } };

/** Sends a request whose response has these parts and headers. */
async function ask(
  key: string,
  parts: Iterable<Buffer>,
  headers: IncomingHttpHeaders = {},
  options: Options = TO_HOST,
) {
  const got: Options[] = [];
  const request = guardSecrets(
    (sent, respond) => {
      got.push(sent);
      respond(Object.assign(Readable.from(parts), { statusCode: 200, headers }));
      return {};
    },
    [{ ...GUARDED, value: key }],
  );
  const response = await new Promise<Response>((resolve) => request(options, resolve));
  const chunks = (await response.toArray()) as Buffer[];
  return { text: Buffer.concat(chunks), response, sent: got[0]?.headers ?? assert.fail() };
}

function* cut(text: Buffer, sizes: () => number): Iterable<Buffer> {
  for (let at = 0; at < text.length; ) {
    const size = sizes();
    yield text.subarray(at, at + size);
    at += size;
  }
}

const ascii = (text: string) => Buffer.from(text, 'latin1');
const NAMES: Readonly<Record<string, string>> = {
  ...{ '!': 'excl', '"': 'quot', '#': 'num', $: 'dollar', '%': 'percnt', '&': 'amp', "'": 'apos', '(': 'lpar' },
  ...{ ')': 'rpar', '*': 'ast', '+': 'plus', ',': 'comma', '.': 'period', '/': 'sol', ':': 'colon', ';': 'semi' },
  ...{ '<': 'lt', '=': 'equals', '>': 'gt', '?': 'quest', '@': 'commat', '[': 'lsqb', '\\': 'bsol', ']': 'rsqb' },
  ...{ '^': 'Hat', _: 'lowbar', '`': 'grave', '{': 'lcub', '|': 'verbar', '}': 'rcub' },
};
const reverse = (text: string) => [...text].reverse().join('');
/** Spellings that the search of a redactor does not undo, with the text in which to search. */
const OTHER: Readonly<Record<string, readonly [write: (key: string) => string, undo: (text: string) => string]>> = {
  reversed: [reverse, reverse],
  'in reversed base64': [
    (key) => Buffer.from(reverse(key)).toString('base64'),
    (text) => reverse(Buffer.from(text, 'base64').toString()),
  ],
  'over lines': [(key) => key.replace(/.{5}/g, '$&\r\n  '), (text) => text.replaceAll('\r\n  ', '')],
  'over lines of an event stream': [
    (key) => `data: ${key.replace(/.{7}/g, '$&\n\ndata: ')}`,
    (text) => text.replace(/\n\ndata: /g, ''),
  ],
  'over escaped lines': [(key) => key.replace(/.{6}/g, '$&\\n'), (text) => text.replaceAll('\\n', '')],
  'base64 over lines': [
    (key) => SPELLINGS.base64?.(key).replace(/.{9}/g, '$&\n') ?? '',
    (text) => text.replaceAll('\n', ''),
  ],
  'over lines with a long indent': [
    (key) => key.replace(/.{5}/g, `$&\r\n${' '.repeat(20)}`),
    (text) => text.replace(/\r\n {20}/g, ''),
  ],
  'over escaped lines with tabs': [
    (key) => key.replace(/.{6}/g, '$&\\n\\t\\t\\t'),
    (text) => text.replace(/\\n(?:\\t){3}/g, ''),
  ],
  'in HTML with all names': [
    (key) => key.replace(/[^A-Za-z0-9~-]/g, (char) => `&${NAMES[char] ?? assert.fail(char)};`),
    (text) =>
      text.replace(/&(\w+);/g, (all, name) => Object.entries(NAMES).find(([, each]) => each === name)?.[0] ?? all),
  ],
  'in HTML with many zeros': [
    (key) => [...key].map((char) => `&#${'0'.repeat(20)}${char.charCodeAt(0)};`).join(''),
    (text) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))),
  ],
  'in UTF-16': [(key) => Buffer.from(key, 'utf16le').toString('latin1'), (text) => text.replaceAll('\0', '')],
  'in capitals': [(key) => key.toUpperCase(), (text) => text],
};

describe('a response', () => {
  const random = seededRandom(44);
  for (const [kind, key] of Object.entries(KEYS)) {
    for (const [name, spell] of Object.entries(SPELLINGS)) {
      it(`does not reveal a secret ${kind}: ${name}`, async () => {
        const text = ascii(`{"a":"${spell(key)}","b":1}\n`);
        assert.ok(reveals(text, key));
        for (const sizes of [() => 1e6, () => 1 + Math.floor(random() * 9)]) {
          const { text: got } = await ask(key, cut(text, sizes));
          assert.ok(!reveals(got, key), got.toString());
          assert.match(got.toString(), /placeholder.*","b":1\}\n$/s);
        }
        const { response } = await ask(key, [], {
          location: `https://x.test/?k=${spell(key)}`,
          'set-cookie': ['a=1', spell(key)],
        });
        assert.ok(!reveals(Buffer.from(JSON.stringify(response.headers)), key));
      });
    }
    for (const [name, [spell, undo]] of Object.entries(OTHER)) {
      it(`does not reveal a secret ${kind}: ${name}`, async () => {
        for (const size of [1e6, 2]) {
          const { text } = await ask(
            key,
            cut(ascii(`<${spell(key)}>`), () => size),
          );
          assert.ok(!undo(text.toString()).toLowerCase().includes(key.toLowerCase()));
          assert.match(text.toString(), /^<.{0,6}placeholder/s);
        }
      });
    }
  }

  it('is passed on at once, without what may be the beginning of a secret', async () => {
    const key = KEYS['of a model'];
    const seen: string[] = [];
    const source = new Readable({ read() {} });
    const request = guardSecrets(
      (_, respond) => {
        respond(Object.assign(source, { statusCode: 200, headers: {} }));
        return {};
      },
      [{ ...GUARDED, value: key }],
    );
    request(TO_HOST, (response) => response.on('data', (chunk: Buffer) => seen.push(chunk.toString())));
    for (const part of ['data: {"delta":"Hi."}\n\n', `data: {"delta":"${key.slice(0, 9)}`, ' other}', `${key}`]) {
      source.push(part);
      await new Promise(setImmediate);
    }
    assert.deepEqual(seen, ['data: {"delta":"Hi."}\n\n', 'data: {"delta":"', `${key.slice(0, 9)} other}`, PLACEHOLDER]);
    source.destroy();
  });

  it('is not changed otherwise, and passed on with any bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, () => Math.floor(random() * 256)));
    const { text } = await ask(
      KEYS['of a model'],
      cut(bytes, () => 1 + Math.floor(random() * 9000)),
    );
    assert.ok(text.equals(bytes));
  });

  for (const headers of [
    { 'content-encoding': 'gzip' },
    { 'content-encoding': 'identity, br' },
    { 'transfer-encoding': 'gzip, chunked' },
  ]) {
    it(`is replaced by an error with ${JSON.stringify(headers)}, which hides a secret`, async () => {
      const { response, text } = await ask(KEYS.short, [ascii('GZIP')], headers);
      assert.equal(response.statusCode, 502);
      assert.ok(!text.includes('GZIP'));
    });
  }
});

describe('a host that gets a secret', () => {
  const key = KEYS['of a model'];
  for (const [to, isPlain] of [
    [{ servername: 'api.example.com', port: 8443 }, false],
    [{ servername: 'api.example.com', port: 443 }, false],
    [{ host: '192.0.2.1', port: 80, headers: { host: 'api.example.com' } }, true],
    [{ host: '192.0.2.1', port: 443, headers: { host: 'api.example.com:443' } }, true],
    [{ host: '192.0.2.1', port: 8080, headers: { host: 'API.example.com:8080' } }, true],
  ] as const) {
    it(`does not reveal it: ${JSON.stringify(to)}${isPlain ? ' without TLS' : ''}`, async () => {
      const sent: Options[] = [];
      const request = guardSecrets(
        (options, respond) => {
          sent.push(options);
          respond(Object.assign(Readable.from([ascii(`<${key}>`)]), { statusCode: 200, headers: { 'x-key': key } }));
          return {};
        },
        [{ ...GUARDED, value: key }],
        isPlain,
      );
      const headers = { ...TO_HOST.headers, range: 'bytes=1-', ...('headers' in to ? to.headers : {}) };
      const response = await new Promise<Response>((resolve) => request({ ...to, headers }, resolve));
      assert.equal(Buffer.concat(await response.toArray()).toString(), `<${PLACEHOLDER}>`);
      assert.equal(response.headers['x-key'], PLACEHOLDER);
      assert.equal(sent[0]?.headers.range, undefined);
      assert.equal(sent[0]?.headers.authorization === `Bearer ${key}`, !isPlain && to.port === 443);
    });
  }
});

describe('a request', () => {
  const key = KEYS['of a model'];
  const sentTo = async (change: object) => (await ask(key, [], {}, { ...TO_HOST, ...change })).sent.authorization;

  it('has the secret in its header only, and asks for a whole response without compression', async () => {
    const headers = {
      ...TO_HOST.headers,
      cookie: PLACEHOLDER,
      'x-other': PLACEHOLDER,
      range: 'bytes=0-3',
      'accept-encoding': 'gzip',
    };
    const { sent } = await ask(key, [], {}, { ...TO_HOST, path: `/?k=${PLACEHOLDER}`, headers });
    assert.deepEqual(sent, {
      authorization: `Bearer ${key}`,
      cookie: PLACEHOLDER,
      'x-other': PLACEHOLDER,
      'accept-encoding': 'identity',
    });
  });

  for (const change of [
    { port: 8443 },
    { servername: 'api.example.com.' },
    { servername: 'evil-api.example.com' },
    { servername: 'api.example.com.evil.test' },
    { servername: undefined, host: '10.0.0.1' },
    { servername: undefined, host: '::1' },
  ]) {
    it(`has the placeholder if it goes to ${JSON.stringify(change)}`, async () =>
      assert.equal(await sentTo(change), `Bearer ${PLACEHOLDER}`));
  }
});
