/**
 * Fuzzes responses of a host that knows a guarded secret: spelled in any way, over any lines, between any text, in parts of any
 * size. The program gets no part from which the secret can be read, and the rest unchanged.
 */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { reveals, SPELLINGS } from '../../../helpers/secret-spellings.ts';
import { latin1 } from '../damage.ts';
import type { FuzzWorker } from '../worker.ts';

interface EchoCase {
  readonly secret: string;
  /** One character a byte. An even one is text, an odd one the name of a spelling of the secret. */
  readonly parts: readonly string[];
  /** Lengths of the chunks, repeated. */
  readonly cuts: readonly number[];
}

type Answer = Readable & { readonly statusCode: number; readonly headers: IncomingHttpHeaders };
type Request = (options: object, respond: (answer: Answer) => void) => object;

const { guardSecrets } = (await import(
  new URL('../../../../modules/sandbox/runtime/guarded-secrets.mjs', import.meta.url).href
)) as { readonly guardSecrets: (request: Request, secrets: readonly object[]) => Request };

const PLACEHOLDER = '<placeholder>';
const OPTIONS = { servername: 'api.example.com', port: 443, headers: { authorization: PLACEHOLDER } };
const GUARDED = { placeholder: PLACEHOLDER, hosts: ['api.example.com:443'], headers: ['authorization'], body: false };

const LETTERS = [...'abcdeXYZ0123456789-_.+/=&%"\\<'];
const WORDS = [
  '\n',
  '\r\n',
  'data: ',
  '\\n',
  '%',
  '%25',
  '\\u00',
  '&#',
  '&amp;',
  '"',
  '{',
  ' ',
  '\0',
  '=',
  'ey',
  '\xff',
];

/** How a person may undo breaks that a host puts into a spelling. */
const joined = (text: string): string => text.replace(/(?:\\r|\\n|\r|\n)(?:data: ?)?/g, '');

async function echo(secret: string, text: string, cuts: readonly number[]): Promise<string> {
  function* chunks(): Iterable<Buffer> {
    const bytes = latin1(text);
    for (let [at, next] = [0, 0]; at < bytes.length; next++) {
      const size = cuts[next % cuts.length] ?? bytes.length;
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
  const respond = (_: object, give: (answer: Answer) => void): object => {
    give(
      Object.assign(Readable.from(chunks()), { statusCode: 200, headers: { 'x-echo': text.replace(/[\r\n\0]/g, '') } }),
    );
    return {};
  };
  const answer = await new Promise<Answer>((resolve) =>
    guardSecrets(respond, [{ ...GUARDED, value: latin1(secret).toString('latin1') }])(OPTIONS, resolve),
  );
  assert.ok(!reveals(Buffer.from(String(answer.headers['x-echo']), 'latin1'), secret), 'the secret is in a header');
  return Buffer.concat((await answer.toArray()) as Buffer[]).toString('latin1');
}

export const echoes: FuzzWorker<EchoCase> = {
  name: 'echoes',
  cases: fc.record({
    secret: fc
      .array(fc.constantFrom(...LETTERS), { minLength: 12, maxLength: 60 })
      .filter((letters) => new Set(letters).size > 5)
      .map((letters) => letters.join(''))
      // launch.mjs refuses them.
      .filter((secret) => !/%25|52%|&amp|pma&|&#|#&|\\\\|\\(?:u00|x)5c/i.test(secret)),
    parts: fc.array(
      fc.oneof(
        fc.constantFrom(...WORDS),
        fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 20 }),
        fc.constantFrom(...Object.keys(SPELLINGS)),
      ),
      { minLength: 1, maxLength: 9 },
    ),
    cuts: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 4 }),
  }),
  open: async () => ({
    longestMs: 3000,
    close: async () => {},
    async run({ secret, parts, cuts }) {
      const spelled = parts.map((part, at) => (at % 2 === 0 ? part : (SPELLINGS[part]?.(secret) ?? part)));
      const text = spelled.map((part) => latin1(part).toString('latin1')).join('');
      const got = await echo(secret, text, cuts);
      for (const each of [got, joined(got)]) assert.ok(!reveals(latin1(each), secret), 'the secret is in the body');
      const plain = parts.filter((_, at) => at % 2 === 0).join('|');
      const harmless = await echo(secret, plain, cuts);
      if (!reveals(latin1(joined(plain)), secret))
        assert.equal(harmless, plain, 'a text without the secret has changed');
    },
  }),
};
