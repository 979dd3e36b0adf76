/** For any config file, a compile returns diagnostics or a table and never throws. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DIAGNOSTIC_FORMATS, printDiagnostics } from '../../compiler/print/print.ts';
import { anyText } from '../helpers/any-text.ts';
import { compileConfig, compileFiles, printed } from '../helpers/compile.ts';
import type { MemoryFile } from '../helpers/memory-files.ts';
import { runsOf } from '../helpers/sample.ts';

const FULL = readFileSync(new URL('./golden/full/hookwright.yaml', import.meta.url), 'utf8');

/** Prints in every format, so that a bad range would show. */
function check(result: ReturnType<typeof compileConfig>): void {
  const hasError = result.diagnostics.some(({ severity }) => severity === 'error');
  assert.equal(result.output === null, hasError);
  for (const { range, source } of result.diagnostics) {
    assert.ok(range.start >= 0 && range.end >= range.start && range.end <= source.text.length);
  }
  for (const format of DIAGNOSTIC_FORMATS) printDiagnostics(format, result.diagnostics, { color: true, width: 80 });
}

describe('a config file that is', () => {
  const route = (name: string) =>
    `platforms: { webhook: { enabled: true, secret: env:S, routes: { ${name}: { prompt: x } } } }`;
  const cases: readonly (readonly [string, string | Uint8Array | MemoryFile, string])[] = [
    ['empty', '', 'empty-config'],
    ['only a comment', '# later\n', 'empty-config'],
    ['null', '~', 'wrong-type'],
    ['a list', '- a\n- b', 'wrong-type'],
    ['a word', 'hello', 'wrong-type'],
    ['JSON', '{"platforms": {"webhook": {"enabled": true}}}', ''],
    ['UTF-16', Buffer.from('\ufeffa: 1', 'utf16le'), 'unreadable-file'],
    ['binary', Uint8Array.from({ length: 300 }, (_, i) => i % 256), 'unreadable-file'],
    ['full of NULs', '\0\0\0', 'wrong-type'],
    ['a link into nowhere', { link: '/nowhere' }, 'unreadable-file'],
    ['larger than 16 MiB', new Uint8Array(16 * 1024 * 1024 + 1), 'unreadable-file'],
    [
      'a YAML bomb',
      `a: &a [x,x]\nb: &b [*a,*a]\n${'c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g]\n'}`,
      'yaml-alias',
    ],
    ['one with a route called __proto__', route('__proto__'), 'invalid-name'],
    ['one with a route called constructor', route('constructor'), ''],
    ['one with a route called 1', route('1'), ''],
    ['one with an emoji as a name', route('"\u{1f600}"'), 'invalid-name'],
    ['one with a name written from right to left', route('"\u202efdp"'), 'invalid-name'],
    ['one with a combining mark in a name', route('"e\u0301"'), 'invalid-name'],
    ['one with a line break in a name', route('"a\\nb"'), 'invalid-name'],
    ['one with a name of 64 characters', route('a'.repeat(64)), ''],
    ['one with a name of 65 characters', route('a'.repeat(65)), 'invalid-name'],
    ['one with an empty name', route('""'), 'invalid-name'],
  ];
  for (const [name, content, rule] of cases) {
    test(`${name}: ${rule === '' ? 'fine' : rule}`, () => {
      const result = compileFiles({ 'hookwright.yaml': content });
      check(result);
      assert.deepEqual(
        [...new Set(result.diagnostics.map((one) => one.rule))],
        rule === '' ? [] : [rule],
        printed(result),
      );
    });
  }
});

test('a byte order mark and Windows line ends do not shift lines and columns', () => {
  const text = `\ufeff${'platforms:\n  webhook:\n    promt: x\n'.replaceAll('\n', '\r\n')}`;
  assert.match(printed(compileConfig(text)), /^hookwright\.yaml:3:5: error unknown-key/);
});

test('a file name may contain any character', () => {
  const name = 'odd \u202e\u001b[31m:1,\nname.yaml';
  const result = compileFiles({ [name]: 'a: 1' }, { configs: [name] });
  check(result);
  assert.ok(!printed(result).includes('\u001b'));
});

test('reports every problem of many routes', () => {
  const routes = Array.from({ length: 250 }, (_, i) => `      r${i}: { promt: x, deliver: telegrm }\n`).join('');
  const result = compileConfig(`platforms:\n  webhook:\n    enabled: true\n    secret: env:S\n    routes:\n${routes}`);
  check(result);
  assert.equal(result.diagnostics.length, 500);
});

test('rejects a randomly damaged config with a position, or compiles it', () => {
  const damage = fc.record({
    at: fc.nat({ max: FULL.length }),
    cut: fc.nat({ max: 12 }),
    insert: fc.oneof(
      anyText({ maxLength: 4 }),
      fc.constantFrom(
        '\n',
        ':',
        '- ',
        '{',
        '}',
        '[',
        ']',
        '&a ',
        '*a',
        '<<: ',
        '"',
        "'",
        '|',
        '\t',
        '!!x ',
        '#',
        ': {',
        '~',
        '0x1F',
        '.inf',
      ),
    ),
  });
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (damages) => {
      const text = damages.reduce(
        (whole, { at, cut, insert }) => whole.slice(0, at) + insert + whole.slice(at + cut),
        FULL,
      );
      check(compileConfig(text));
    }),
    { seed: 11, numRuns: runsOf(40) },
  );
});

test('rejects or compiles any JSON value', () => {
  const keys = fc.constantFrom(
    'platforms',
    'webhook',
    'extra',
    'routes',
    'a',
    'secret',
    'prompt',
    'filters',
    'deliver',
    'deliver_extra',
    'jobs',
    'agent',
    'gateway',
    'sources',
    'telegram',
    'include',
    '__proto__',
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom(null, true, 0, -1, 1.5, '', 'x', 'env:', 'telegram', 'INSECURE_NO_AUTH', '{a..b}'),
      fc.dictionary(keys, tie('tree'), { maxKeys: 4 }),
      fc.array(tie('tree'), { maxLength: 3 }),
    ),
  }));
  const routes = fc.dictionary(fc.constantFrom('a', 'b'), tree, { maxKeys: 2 });
  fc.assert(
    fc.property(tree, routes, (any, some) => {
      check(compileConfig(JSON.stringify(any)));
      check(
        compileConfig(JSON.stringify({ platforms: { webhook: { enabled: true, secret: 'env:S', routes: some } } })),
      );
    }),
    { seed: 12, numRuns: runsOf(40) },
  );
});
