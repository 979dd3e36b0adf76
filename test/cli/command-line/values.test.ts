import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../cli/base/errors.ts';
import { readCommandLine } from '../../../cli/command-line/clipanion.ts';
import type { GivenBy } from '../../../cli/command-line/command.ts';
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

type Given = GivenBy<typeof options> & GivenBy<typeof args>;

/** What a command with these options is given. */
async function parse(argv: string[]): Promise<Given> {
  let found: Given | undefined;
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

test('an option has the value that its text stands for, its default as well', async () => {
  assert.deepEqual(await parse(['a', '--port=8644']), {
    ...{ port: 8644, overlap: 24 * 3_600_000, json: false, mirrorToSession: undefined, config: undefined },
    ...{ name: 'a', files: [] },
  });
  assert.equal((await parse(['a'])).port, undefined);
});

test('of a repeated option the last value counts, a list has all of them, and a flag can be off', async () => {
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

test('what cannot be read is wrong usage that names the option', async () => {
  await assert.rejects(
    parse(['a', '--port=http']),
    (error) => error instanceof UsageError && /^--port\b.*65535/.test(error.message),
  );
  await assert.rejects(parse([]), { name: 'UsageError', hints: ['usage: hookwright probe <name> [file…]'] });
});
