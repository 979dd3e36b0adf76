/** Tests that a code frame, which shows a line of the config, contains no secret of that line, however it is written. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { createLines } from '../../compiler/print/lines.ts';
import { printPretty } from '../../compiler/print/print-pretty.ts';
import { createSafeLines } from '../../compiler/print/safe-lines.ts';
import { compileFiles } from '../helpers/compile.ts';

const CANARY = 'hunter2-canary';

/** Every line of a text as code frames show it. */
function shown(text: string): string {
  const source = { path: '/w/a.yaml', name: 'a.yaml', text };
  const safeLine = createSafeLines([], createLines());
  return text
    .split('\n')
    .map((_, index) => safeLine(source, index + 1))
    .join('\n');
}

describe('no secret is shown', () => {
  const texts = [
    `secrets: [${CANARY}1, ${CANARY}2]`,
    `secrets: ["${CANARY}1", '${CANARY}2', { value: ${CANARY}3 }]`,
    `secrets:\n  - ${CANARY}1\n  - ${CANARY}2`,
    `secrets:\n  - { value: ${CANARY}1,\n      expires_at: ${CANARY}2 }`,
    `secret: |\n  ${CANARY}1\n  ${CANARY}2`,
    `secret: >-\n  ${CANARY}1\n  ${CANARY}2`,
    `secret: "${CANARY}1\n  ${CANARY}2"`,
    `secret: { a: { b: [${CANARY}1] } }`,
    `secret: {${CANARY}1}`,
    `secret:\n  ? ${CANARY}1`,
    `x: &s ${CANARY}1\nsecret: *s`,
    `x: &s { y: &t ${CANARY}1 }\nz: [*t]\nsecret: *s`,
    `secert: [${CANARY}1, ${CANARY}2]`,
    `passwrod: ${CANARY}1`,
    `{"deep": [{"verify_token": ["a", "${CANARY}1"]}]}`,
    `SECRET: ${CANARY}1`,
    `clientSecret: ${CANARY}1`,
    `webhook_url: https://chat.example/${CANARY}1`,
    `secrets: [${CANARY}1, ${CANARY}2`,
    `secret: "${CANARY}1`,
    `a: 1 # secrets: [${CANARY}1, ${CANARY}2]`,
    `url: https://user:${CANARY}1@host.example/x`,
    `url: https://${CANARY}1@host.example/x`,
    `url: https://host.example/x?a=1&api_key=${CANARY}1`,
  ];
  for (const text of texts) test(JSON.stringify(text), () => assert.ok(!shown(text).includes('hunter2'), shown(text)));

  test('in a text nested too deeply to be parsed', () => {
    const text = `${'['.repeat(20_000)}\nsecrets: [${CANARY}1, ${CANARY}2]`;
    assert.ok(!shown(text).includes('hunter2'));
  });
});

test('other values are shown', () => {
  const text =
    'events: [push]\nsession_key: "{a}"\nbudget: { tokens: 2000 }\nsecret: env:NAME\ncoalesce: { key: "{repo}" }\nsecrets: [file:a/b, env:B]\nroutes: { token-check: { prompt: x } }\n# secrets: [env:A]';
  assert.equal(shown(text), text);
});

test('the second secret of a misplaced `secrets: [new, old]`', () => {
  const config = `platforms:\n  webhook:\n    secrets: [${CANARY}1, ${CANARY}2]\n    routes: { a: { prompt: x } }\n`;
  const { diagnostics } = compileFiles({ 'hookwright.yaml': config });
  const text = printPretty(diagnostics, { color: false, width: 120 });
  assert.match(text, /`secrets`/);
  assert.ok(!text.includes('hunter2'), text);
});

test('an invalid line of an env file', () => {
  const files = { 'hookwright.yaml': 'platforms: {}\n', '~/.hookwright/.env': `A="b\nMY KEY=${CANARY}1\n${CANARY}2\n` };
  const text = printPretty(compileFiles(files).diagnostics, { color: false, width: 120 });
  assert.match(text, /`KEY=value`/);
  assert.ok(!text.includes('hunter2'), text);
});

test('a number under a key for secrets is not repeated', () => {
  const config = 'platforms: { telegram: { enabled: true, token: 1712.50 }, sms: { auth_token: 017121 } }\n';
  const text = printPretty(compileFiles({ 'hookwright.yaml': config }).diagnostics, { color: false, width: 120 });
  assert.match(text, /invalid-number/);
  assert.match(text, /lost-digits/);
  assert.ok(!text.includes('1712'), text);
});

test('any nesting of lists and maps, in block and flow style', () => {
  const leaf = fc.constant(`${CANARY} "x"`);
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'value', 'b c', '? d'), tie('tree'), { minKeys: 1, maxKeys: 3 }),
    ),
  }));
  const key = fc.constantFrom('secret', 'secrets', 'api_key', 'verify_token', 'smtp_pass', 'secerts');
  const style = fc.record({
    collectionStyle: fc.constantFrom<'any' | 'block' | 'flow'>('block', 'flow', 'any'),
    lineWidth: fc.nat(40),
  });
  const property = fc.property(key, tree, style, (name, value, options) => {
    const text = stringify({ before: 'x', [name]: value, after: 'y' }, options);
    assert.ok(!shown(text).includes('hunter2'), text);
    assert.ok(shown(text).includes('before: x') || options.collectionStyle === 'flow');
  });
  fc.assert(property, { numRuns: 300 });
});
