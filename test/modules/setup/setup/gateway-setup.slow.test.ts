/** The wizard on a real terminal. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasPty, runOnTerminal } from '../../../helpers/pty.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import { FIRST_RUN } from './questions.ts';

test('the wizard asks on a terminal, shows the changes, and writes them', async (t) => {
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
