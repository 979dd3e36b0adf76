import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../cli/base/errors.ts';
import { readCommandLine } from '../../../cli/command-line/clipanion.ts';
import { command, flag, restArguments, text, withShort } from '../../../cli/command-line/command.ts';

const PROBE = command({
  options: {
    deliverChatId: text('id', 'Chat'),
    port: withShort('-p', text('port', 'Where it listens')),
    json: flag('Print JSON'),
  },
  args: { words: restArguments('word') },
  async run() {},
});

const read = (words: readonly string[]) => readCommandLine(words, 'probe', PROBE);

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
    const line = read(args);
    for (const { name } of PROBE.options) assert.deepEqual(line.options.get(name), options[name] ?? []);
    assert.deepEqual(line.positionals, positionals);
  });
}

for (const args of [
  ['--port'],
  ['--port', '--json'],
  ['--port', '--json', 'word'],
  ['--prot', '1'],
  ['--prot=1', '-1'],
  ['-x'],
  ['--json=1'],
  ['--no-port', '1'],
]) {
  test(`rejects ${args.join(' ')}`, () =>
    assert.throws(
      () => read(args),
      (error) => error instanceof UsageError && error.message.includes(args[0] ?? ''),
    ));
}

test('never takes an argument as the value of an option at the end', () =>
  assert.throws(() => read(['word', '--port']), UsageError));
