import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../cli/base/errors.ts';
import { readCommandLine } from '../../../cli/command-line/clipanion.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import {
  argument,
  command,
  flag,
  list,
  parsed,
  restArguments,
  toggle,
  withDefault,
} from '../../../cli/command-line/command.ts';
import { parseDuration, parsePort } from '../../../cli/command-line/values.ts';
import { contextFor } from '../../helpers/cli.ts';

const options = {
  port: parsed('port', 'Where it listens', parsePort),
  overlap: withDefault('24h', parsed('time', 'How long', parseDuration)),
  json: flag('Print JSON'),
  mirrorToSession: toggle('Append it'),
  config: list('path', 'Read this'),
};
const args = { name: argument('name'), files: restArguments('file') };

type Values = ValuesOf<typeof options> & ValuesOf<typeof args>;

/** Returns the parsed options of a command. */
async function parse(argv: string[]): Promise<Values> {
  let found: Values | undefined;
  const probe = command({
    ...{ summary: 'Probe', options, args },
    run: async (_context, given) => {
      found = given;
    },
  });
  assert.equal(await probe.run(contextFor({ home: '/nowhere' }), readCommandLine(argv, 'probe', probe)), 0);
  assert.ok(found);
  return found;
}

test('an option parses its text or its default', async () => {
  assert.deepEqual(await parse(['a', '--port=8644']), {
    ...{ port: 8644, overlap: 24 * 3_600_000, json: false, mirrorToSession: undefined, config: undefined },
    ...{ name: 'a', files: [] },
  });
  assert.equal((await parse(['a'])).port, undefined);
});

test('the last value of a repeated option counts, a list has all values, and a flag can be off', async () => {
  const given = await parse([
    '--json',
    'a',
    '--port',
    '1',
    '--config',
    'x',
    'b',
    '--port',
    '2',
    '--config=y',
    '--no-json',
    '-1',
  ]);
  assert.deepEqual(given, {
    ...{ port: 2, overlap: 24 * 3_600_000, json: false, mirrorToSession: undefined, config: ['x', 'y'] },
    ...{ name: 'a', files: ['b', '-1'] },
  });
  assert.equal((await parse(['a', '--no-mirror-to-session'])).mirrorToSession, false);
});

test('an invalid value is wrong usage that names the option', async () => {
  await assert.rejects(
    parse(['a', '--port=http']),
    (error) => error instanceof UsageError && /^--port\b.*65535/.test(error.message),
  );
  await assert.rejects(parse([]), { name: 'UsageError', hints: ['usage: hookwright probe <name> [file…]'] });
});
