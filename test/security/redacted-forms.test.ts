/** Tests that a secret of a request, in any form and position, is hidden in everything that is written. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { Redactor } from '../../runtime/deliver/redact.ts';
import { anyCharacter } from '../helpers/any-text.ts';
import { serveKeeping } from '../helpers/keeping.ts';
import { reveals, SPELLINGS } from '../helpers/secret-spellings.ts';

const redactorOf = (...secrets: string[]): Redactor => {
  const redactor = new Redactor();
  redactor.add(secrets);
  return redactor;
};

/** Secrets as people and programs choose them, also with arbitrary characters. */
const secrets = fc.oneof(
  fc.string({ minLength: 8, maxLength: 40 }),
  fc.string({ minLength: 8, maxLength: 24, unit: anyCharacter }),
  fc.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
  fc.stringMatching(/^[a-z]{4,8}[äöüßéñ€漢😀][A-Za-z0-9&<>"'\\/+% ]{4,12}$/u),
);
const spellings = fc.constantFrom(...Object.keys(SPELLINGS));
const spell = (name: string, secret: string): string => SPELLINGS[name]?.(secret) ?? '';

describe('a secret beyond ASCII', () => {
  const secret = 'pässwörd-€😀"x/y';
  for (const name of Object.keys(SPELLINGS))
    it(`is replaced in the spelling ${name}`, () => {
      const spelled = spell(name, secret);
      const text = `{"a":"${spelled}","b":1}`;
      const clean = redactorOf(secret).redact(text);
      assert.equal(reveals(Buffer.from(clean), secret), false, clean);
      assert.notEqual(clean, text);
      assert.match(clean, /^\{"a":".*\*\*\*.*","b":1\}$/s);
    });
});

test('any secret, in any spelling, in any text', () => {
  const property = fc.property(secrets, spellings, fc.string(), fc.string(), (secret, name, before, after) => {
    const clean = redactorOf(secret).redact(`${before} ${spell(name, secret)} ${after}`);
    assert.equal(reveals(Buffer.from(clean), secret), false, clean);
  });
  fc.assert(property, { numRuns: 1500 });
});

test('redacted JSON is still JSON', () => {
  const texts = fc.dictionary(fc.string(), fc.string());
  fc.assert(
    fc.property(secrets, spellings, texts, (secret, name, others) => {
      const text = JSON.stringify({ ...others, [`x${spell(name, secret)}`]: `\n${spell(name, secret)}` });
      assert.doesNotThrow(() => JSON.parse(redactorOf(secret).redact(text)));
    }),
    { numRuns: 500 },
  );
  // `
  // ` and the rest of the word, not the word after a backslash.
  assert.equal(redactorOf('nuclear-codes').redact(JSON.stringify('a\nuclear-codes')), '"a***"');
});

test('ordinary texts stay unchanged', () => {
  const redactor = redactorOf('correct-horse-battery', 'pässwörd-€', '0123456789abcdef');
  for (const text of [
    '100% & more + \\n',
    '%c3%a4 &auml; \\u00e4',
    'a+b=c',
    '\\',
    '%',
    '&#;',
    '&#99999999;',
    '\\u12',
    '\ud83d',
  ])
    assert.equal(redactor.redact(text), text);
  const bytes = Buffer.from([0xff, 0xfe, 0x25, 0x5c, 0x00]);
  assert.equal(redactor.redactBytes(bytes), bytes);
});

test('a secret at any position of a request is never written', async (t) => {
  const known = fc.sample(secrets, { numRuns: 12, seed: 4711 }).filter((secret) => secret.length >= 6);
  const redactor = redactorOf(...known);
  const gateway = { capture_per_second: 100_000 };
  const { post, capture, list, path, log } = await serveKeeping(t, { routes: { ci: {} }, gateway }, { redactor });
  const names = Object.keys(SPELLINGS);
  const header = (text: string): string =>
    Buffer.from(text)
      .toString('latin1')
      .replace(/[^\x20-\x7e\x80-\xff]/g, '');
  const sent: string[] = [];
  for (const [index, secret] of known.entries()) {
    for (const name of [names[index % names.length] ?? '', names[(index * 7 + 3) % names.length] ?? '']) {
      const spelled = spell(name, secret);
      const json = JSON.stringify({ deep: [{ note: `see ${spelled}.` }] });
      await post(`/webhooks/ci?ref=${encodeURIComponent(Buffer.from(spelled).toString())}`, '{}');
      await post('/webhooks/ci', json, { 'X-GitHub-Event': header(spelled), 'X-Note': header(`a ${spelled} b`) });
      await post('/webhooks/ci', json, { 'X-GitHub-Delivery': header(spelled) });
      sent.push(secret, secret, secret);
    }
  }
  const rows = await list({}, 1000);
  assert.equal(rows.length, sent.length);
  assert.ok(rows.every(({ verified }) => verified));
  for (const [index, { id }] of rows.toReversed().entries()) {
    const found = await capture.requests.load(id);
    assert(found.kind === 'found');
    const body = Buffer.from(found.request.body ?? '', 'base64');
    const all = Buffer.concat([Buffer.from(JSON.stringify(found.request)), body]);
    assert.equal(reveals(all, sent[index] ?? ''), false, `${sent[index]} in ${all.toString()}`);
  }
  await capture.close();
  const files = ['', '-wal', '-shm', '-journal'].map((end) => path + end).filter((file) => existsSync(file));
  const said = log.lines.map((line) => redactor.redact(JSON.stringify(line))).join('\n');
  const written = Buffer.concat([...files.map((file) => readFileSync(file)), Buffer.from(said)]);
  for (const secret of known) assert.equal(written.includes(Buffer.from(secret)), false, secret);
});
