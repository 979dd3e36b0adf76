/** Where a program beside the configuration is looked for is what the runtime does (`locateProgram`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFiles } from '../helpers/compile.ts';

const compiled = (agent: string, files: Readonly<Record<string, string>>) =>
  compileFiles({
    'hookwright.yaml': `platforms:\n  webhook: { enabled: true, secret: env:WEBHOOK_SECRET, routes: { r: { prompt: x } } }\nagent: ${agent}\n`,
    'agent.py': '',
    ...files,
  });

/** The hint of `program-place`; null: it has nothing to say. */
const hint = (agent: string, files: Readonly<Record<string, string>> = {}): string | null => {
  const found = compiled(agent, files).diagnostics.find(({ rule }) => rule === 'program-place');
  return found === undefined ? null : (found.hint ?? '');
};

test('the program itself is below the home, whatever the working folder', () => {
  assert.doesNotMatch(hint('{ command: [./agent.py] }') ?? assert.fail(), /`cwd:/);
  assert.notEqual(hint('{ command: [./agent.py], cwd: /srv }'), null);
  assert.equal(hint('{ command: [./agent.py] }', { '~/.hookwright/agent.py': '' }), null);
});

test('a name without a folder is on the PATH, and what an argument names in the working folder', () => {
  assert.notEqual(hint('{ command: [agent.py] }'), null);
  assert.match(hint('{ command: [python3, agent.py] }') ?? '', /`cwd: /);
});
