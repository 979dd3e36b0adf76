/** No name of a file that a stranger's repository brings controls the terminal, looks like another name, or begins a line. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../helpers/cli.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** A second line that commands a CI job, colours, a window title, and characters that are not seen. */
const NAME = 'x\n::add-mask::E\r##[x]\u001b[31m\u001b]0;t\u0007\u009b1m\u2028y\u202e\u2066\u200b';
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u;

const CONFIG = `include: ["*.inc.yaml", ${JSON.stringify(`${NAME}/*`)}]
sources:
  mine: { verify: hmac-sha256, signature: { header: X-S }, signed: "{body}", shape: ${JSON.stringify(`${NAME}.json`)} }
platforms:
  webhook:
    enabled: true
    extra:
      routes:
        ci: { source: mine, secret: env:S, deliver: log, prompt: "{nothing.here}", script: ${JSON.stringify(NAME)} }
`;
const TESTS = `tests:
  - { name: a, route: ci, payload_file: ${JSON.stringify(`${NAME}.json`)}, expect: { prompt: none } }
  - { name: b, route: no, payload: {}, expect: { prompt: none } }
`;
const ROUTE = (name: string): string =>
  `platforms: { webhook: { extra: { routes: { ${name}: { source: github, secret: env:S, deliver: log, prompt: "{a}" } } } } }\n`;

const FILES: Readonly<Record<string, string>> = {
  'hookwright.yaml': CONFIG,
  [`${NAME}.inc.yaml`]: ROUTE('one'),
  [`${NAME}/two.yaml`]: ROUTE('two'),
  [`${NAME}.bad.yaml`]: 'a: [\nb: x\n',
  [`${NAME}.dup.yaml`]: `${ROUTE('one')}include: [hookwright.yaml, "${'no'}.yaml", 3]\n`,
  [`${NAME}.test.yaml`]: TESTS,
  [`${NAME}.json`]: '{"type": "objekt"}',
  [`${NAME}.hooks.json`]: '[{"id": "x", "execute-command": "/bin/true"}]',
};

const COMMANDS: readonly (readonly string[])[] = [
  ['lint'],
  ['lint', '--strict', `${NAME}.inc.yaml`],
  ['lint', `${NAME}.bad.yaml`],
  ['lint', `${NAME}.dup.yaml`],
  ['lint', '--format', 'github', `${NAME}.bad.yaml`],
  ['lint', '--format', 'json', `${NAME}.bad.yaml`],
  ['lint', '--format', 'sarif', `${NAME}.bad.yaml`],
  ['lint', '--fix', `${NAME}.dup.yaml`],
  ['lint', `${NAME}.none.yaml`],
  ['lint', `${NAME}*.none.yaml`],
  ['compile', `${NAME}.inc.yaml`],
  ['compile', '--out', NAME, `${NAME}.inc.yaml`],
  ['compile', '--out', `${NAME}.json`, `${NAME}.inc.yaml`],
  ['compile', '--out', `${NAME}/deep`, '--format', 'github', `${NAME}.dup.yaml`],
  ['test'],
  ['test', '--format', 'github'],
  ['test', '--format', 'junit'],
  ['test', `${NAME}.test.yaml`, '--config', `${NAME}.inc.yaml`],
  ['test', `${NAME}.none.test.yaml`],
  ['route', 'list', '--config', `${NAME}.inc.yaml`],
  ['route', 'show', 'one', '--config', `${NAME}.inc.yaml`],
  ['source', 'show', 'mine'],
  ['source', 'shape', 'mine'],
  ['source', 'learn', 'mine', '--from', `${NAME}.json`],
  ['source', 'learn', 'mine', '--from', `${NAME}.bad.yaml`],
  ['source', 'learn', 'mine', '--from', `${NAME}.hooks.json`, '--out', NAME],
  ['explain', 'one', '--config', `${NAME}.inc.yaml`, '--payload', '{}'],
  ['explain', 'one', '--config', `${NAME}.bad.yaml`, '--payload', '{}'],
  ['explain', 'one', '--config', `${NAME}.inc.yaml`, '--payload', `@${NAME}.bad.yaml`],
  ['diff', `${NAME}.inc.yaml`, `${NAME}.bad.yaml`],
  ['doctor', '--config', `${NAME}.inc.yaml`],
  ['convert', 'adnanh', `${NAME}.hooks.json`],
  ['convert', 'adnanh', `${NAME}.bad.yaml`],
  ['convert', 'hermes', `${NAME}.hooks.json`, '--out', NAME],
  ['init', `${NAME}.new`, '--yes'],
  ['gateway', 'setup', '--yes', '--config', `${NAME}.bad.yaml`],
  ['profile', 'show', 'default', '--config', `${NAME}.inc.yaml`],
];

test('a name of a file is printed on one line, and nothing in it is hidden', async (t) => {
  const cwd = join(tempDir(t), 'repo');
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(cwd, path, '..'), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const failures: string[] = [];
  let shown = 0;
  for (const argv of COMMANDS) {
    // Not in a CI job, where commands to it would be escaped in any case.
    const { stdout, stderr } = await runInProcess(argv, {
      home: join(cwd, '../home'),
      cwd,
      env: { S: 'a'.repeat(40) },
    });
    for (const text of [stdout, stderr]) {
      if (text.includes('add-mask')) shown++;
      if (UNSEEN.test(text) || /^\s*::add-mask/m.test(text)) failures.push(`${argv.join(' ')}:\n${text}`);
    }
  }
  assert.deepEqual(failures, []);
  assert.ok(shown > 20, `${shown}`);
});
