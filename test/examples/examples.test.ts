import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { runInProcess } from '../helpers/cli.ts';
import { prepareExample } from '../helpers/example.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));

const configs = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, 'hookwright.yaml')));

for (const name of configs) {
  test(`${name} passes lint with and without its secrets`, async (t) => {
    const { config, dir, path } = prepareExample(t, name);
    const env = { PATH: path };
    const lint = await runInProcess(['lint', '--strict', '--config', config], {
      home: join(dir, 'home'),
      cwd: dir,
      env,
    });
    assert.equal(lint.code, 0, lint.stderr + lint.stdout);
  });
}

test('ci-lint: every hookwright step of the workflow succeeds without secrets', async (t) => {
  const { dir } = prepareExample(t, 'ci-lint');
  const folder = join(dir, 'ci-lint');
  const workflow = parse(readFileSync(join(folder, '.github/workflows/hookwright.yml'), 'utf8')) as {
    readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
  };
  const commands = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  assert.equal(commands.length, 4);
  for (const command of commands) {
    const [npx, program, ...argv] = command.split(' ');
    assert.deepEqual([npx, program], ['npx', 'hookwright']);
    const { code, stdout, stderr } = await runInProcess(argv, { home: join(dir, 'home'), cwd: folder });
    assert.equal(code, 0, `${command}: ${stdout}${stderr}`);
  }
  assert.deepEqual(readdirSync(join(folder, 'build')).sort(), ['blueprints.json', 'catalog.json', 'routes.json']);
  assert.ok(Array.isArray(JSON.parse(readFileSync(join(folder, 'build/catalog.json'), 'utf8'))));
});
