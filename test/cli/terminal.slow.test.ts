import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { hasPty, runOnTerminal } from '../helpers/pty.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    port: 0
    secret: a-secret-for-the-terminal-tests
    routes:
      hello: { prompt: "Hello {name}" }
`;

let able = false;
before(() => {
  able = hasPty();
});

test('on a terminal the log is readable, and Ctrl-C drains', async (t) => {
  if (!able) return t.skip('no python3');
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const { code, screen } = await runOnTerminal(['gateway', 'run'], [['listening', '\u0003']], { home });
  assert.equal(code, 0, screen);
  assert.match(screen, /INFO {2}listening {2}url=http:\/\/127\.0\.0\.1:\d+ {2}routes=1/);
});

test('on a terminal tables have a bold header and diagnostics colours, without NO_COLOR', async (t) => {
  if (!able) return t.skip('no python3');
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const list = ['webhook', 'list', '--all'];
  const coloured = await runOnTerminal(list, [], { home });
  assert.match(coloured.raw, /\u001b\[1mNAME/);
  const plain = await runOnTerminal(list, [], { home, env: { NO_COLOR: '1' } });
  assert.doesNotMatch(plain.raw, /\u001b/);
  assert.match(plain.screen, /^hello /m);
});
