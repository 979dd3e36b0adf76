import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../cli/base/errors.ts';
import { readWords } from '../../../cli/command-line/argv.ts';

const SPECS = [
  { names: ['--deliver-chat-id'], value: 'id' },
  { names: ['-p', '--port'], value: 'port' },
  { names: ['--json'], value: null },
];

const forms: readonly (readonly [string, string[], Record<string, string[]>, string[]])[] = [
  ['a negative group id as a value', ['--deliver-chat-id', '-100200'], { '--deliver-chat-id': ['-100200'] }, []],
  ['a value that looks like an unknown option', ['--deliver-chat-id', '--x'], { '--deliver-chat-id': ['--x'] }, []],
  [
    'a bound value that looks like a known option',
    ['--deliver-chat-id=--json'],
    { '--deliver-chat-id': ['--json'] },
    [],
  ],
  ['an empty value', ['--deliver-chat-id', ''], { '--deliver-chat-id': [''] }, []],
  ['a negative positional', ['show', '-100200', '--json'], { '--json': ['true'] }, ['show', '-100200']],
  ['a lone dash as positional', ['-'], {}, ['-']],
  ['everything after -- as positional', ['--', '--json'], {}, ['--json']],
  ['a short name', ['-p', '1'], { '--port': ['1'] }, []],
  ['a negated flag', ['--no-json'], { '--json': ['false'] }, []],
  ['a value with spaces and equals signs', ['--port', 'a = b'], { '--port': ['a = b'] }, []],
];
for (const [name, args, options, positionals] of forms) {
  test(`reads ${name}`, () => {
    const line = readWords(args, SPECS);
    assert.deepEqual({ ...line, options: Object.fromEntries(line.options) }, { options, positionals });
  });
}

const refused: readonly (readonly [string[], RegExp])[] = [
  [['--port'], /--port needs a value/],
  [['--port', '--json'], /--port needs a value/],
  [['--prot', '1'], /unknown option --prot/],
  [['-x'], /unknown option -x/],
  [['--json=1'], /--json takes no value/],
  [['--no-port', '1'], /unknown option --no-port/],
];
for (const [args, expected] of refused) {
  test(`refuses ${args.join(' ')}`, () =>
    assert.throws(
      () => readWords(args, SPECS),
      (error) => error instanceof UsageError && expected.test(error.message),
    ));
}
