/** The wizard on a terminal of its own. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasPty, runOnTerminal } from '../../../helpers/pty.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const enter = '\r';
const FIRST_RUN: readonly (readonly [string, string])[] = [
  ['Receive webhooks?', enter],
  ['Who may reach the server?', enter],
  ['On which port?', `${'\u007f'.repeat(5)}9123${enter}`],
  ['The secret that senders sign with', enter],
  ['Make a first route?', 'y'],
  ['Its name', `hello${enter}`],
  ['Events it accepts', `push${enter}`],
  ['The prompt', enter],
  ['Write this?', enter],
];

test('the wizard asks on a terminal, shows what will change, and writes', async (t) => {
  if (!hasPty()) return t.skip('no python3');
  const home = tempDir(t);
  const { code, screen } = await runOnTerminal(['gateway', 'setup'], FIRST_RUN, { home });
  assert.equal(code, 0, screen);
  const text = readFileSync(join(home, 'config.yaml'), 'utf8');
  assert.match(text, /port: 9123\n/);
  assert.match(text, /hello:\n +events:\n +- push\n/);
  assert.match(text, /secret: env:WEBHOOK_SECRET/);
  assert.ok(screen.includes('+     port: 9123'), screen);
});
