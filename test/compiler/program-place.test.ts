/** The compiler searches for programs as the runtime does (`locateProgram`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFiles } from '../helpers/compile.ts';

const compiled = (agent: string, files: Readonly<Record<string, string>>) =>
  compileFiles({
    'hookwright.yaml': `platforms:\n  webhook: { enabled: true, secret: env:WEBHOOK_SECRET, routes: { r: { prompt: x } } }\nagent: ${agent}\n`,
    'agent.py': '',
    ...files,
  });

/** The hint of `program-place`; null if it reports nothing. */
const hint = (agent: string, files: Readonly<Record<string, string>> = {}): string | null => {
  const found = compiled(agent, files).diagnostics.find(({ rule }) => rule === 'program-place');
  return found === undefined ? null : (found.hint ?? '');
};

test('searches the program below the home, regardless of the working folder', () => {
  assert.doesNotMatch(hint('{ command: [./agent.py] }') ?? assert.fail(), /`cwd:/);
  assert.notEqual(hint('{ command: [./agent.py], cwd: /srv }'), null);
  assert.equal(hint('{ command: [./agent.py] }', { '~/.hookwright/agent.py': '' }), null);
});

test('searches a name without a folder on the PATH, and files of arguments in the working folder', () => {
  assert.notEqual(hint('{ command: [agent.py] }'), null);
  assert.match(hint('{ command: [python3, agent.py] }') ?? '', /`cwd: /);
});
