import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Check } from '../../../../cli/base/check.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const CONFIG =
  'platforms: { webhook: { enabled: true, secret: a-secret-for-these-tests, routes: { a: { prompt: x } } } }\n';

test('doctor names the config in use and the ignored ones', async (t) => {
  const project = tempDir(t);
  const home = tempDir(t);
  const below = join(project, 'below');
  mkdirSync(below);
  for (const path of [join(home, 'config.yaml'), join(project, 'hookwright.yaml'), join(project, 'hookwright.yml')])
    writeFileSync(path, CONFIG, { mode: 0o600 });
  const checksIn = async (cwd: string): Promise<readonly Check[]> =>
    JSON.parse((await runInProcess(['doctor', '--json'], { home, cwd })).stdout) as readonly Check[];
  const others = async (cwd: string): Promise<readonly string[]> =>
    (await checksIn(cwd)).filter(({ check }) => check === 'only one').map(({ detail }) => detail);
  const here = await others(project);
  assert.equal(here.length, 2);
  assert.match(here.join('\n'), /config\.yaml .*hookwright\.yaml .*\n.*hookwright\.yml /);
  assert.match((await others(below)).join('\n'), /hookwright\.yaml .*config\.yaml /);
  const [first] = await checksIn(below);
  assert.match(first?.detail ?? '', /config\.yaml: 1 /);
});
