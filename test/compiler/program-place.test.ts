/** Where a program beside the configuration is looked for is what the runtime does (`locateProgram`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFiles, printed } from '../helpers/compile.ts';

const lint = (agent: string, files: Readonly<Record<string, string>> = {}): string =>
  printed(
    compileFiles({
      'hookwright.yaml': `platforms:\n  webhook: { enabled: true, secret: env:WEBHOOK_SECRET, routes: { r: { prompt: x } } }\nagent: ${agent}\n`,
      ...{ 'agent.py': '', ...files },
    }),
  );

test('the program itself is below the home, whatever the working folder', () => {
  const said = /`\.\/agent\.py` is beside the configuration, but looked for in `[^`]+`: it will not be found/;
  assert.match(lint('{ command: [./agent.py] }'), said);
  assert.doesNotMatch(lint('{ command: [./agent.py] }'), /or `cwd:/);
  assert.match(lint('{ command: [./agent.py], cwd: /srv }'), said);
  assert.doesNotMatch(lint('{ command: [./agent.py] }', { '~/.hookwright/agent.py': '' }), /program-place/);
});

test('a name without a folder is on the PATH, and what an argument names in the working folder', () => {
  assert.match(lint('{ command: [agent.py] }'), /`agent\.py` is beside the configuration, but looked for on the PATH/);
  assert.match(
    lint('{ command: [python3, agent.py] }'),
    /but the command starts in a folder of its own[\s\S]*, or `cwd: /,
  );
});
