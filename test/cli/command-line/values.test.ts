import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cli, Command, Option } from 'clipanion';
import { UsageError } from '../../../cli/base/errors.ts';
import { parseDuration, parsedBy, parsePort } from '../../../cli/command-line/values.ts';

class Probe extends Command {
  port = Option.String('--port', { validator: parsedBy('--port', parsePort) });
  overlap = Option.String('--overlap', '24h', { validator: parsedBy('--overlap', parseDuration) });
  async execute(): Promise<void> {}
}

const parse = (argv: string[]) => Cli.from(Probe).process(argv, {}) as Probe;

test('an option has the value that its text stands for, its default as well', () => {
  const { port, overlap } = parse(['--port=8644']);
  assert.deepEqual({ port, overlap }, { port: 8644, overlap: 24 * 3_600_000 });
  assert.equal(parse([]).port, undefined);
});

test('what cannot be read is wrong usage that names the option', () => {
  assert.throws(
    () => parse(['--port=http']),
    (error) => error instanceof UsageError && /^--port takes a whole number from 0 to 65535/.test(error.message),
  );
});
