/** Captures a valid request of every sender, and searches the output of all commands for credentials. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { RequestSummary } from '../../../../schemas/built/operations/types.ts';
import type { SchemePlan } from '../../../../schemas/generated/types.ts';
import { keepVectors } from '../../../helpers/captured-vectors.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { credentialsOf } from '../../../helpers/credentials-of.ts';
import type { Vector } from '../../../helpers/vectors.ts';

/** Sampling interval of senders; all with `HOOKWRIGHT_LONG_TESTS=1`. Another test checks the records of every sender. */
const STEP = process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 1 : 10;

const isFirst = (vector: Vector, all: readonly Vector[]): boolean =>
  all.find(({ scheme }) => scheme === vector.scheme) === vector;

function configOf(sent: readonly Vector[], prompt: string): string {
  const routes = sent.map(({ scheme, url }, index) => {
    const publicUrl = url === undefined ? {} : { public_url: url.split('?')[0] };
    return [`r${index}`, { source: scheme, secret: 'env:WEBHOOK_SECRET', ...publicUrl, prompt }];
  });
  return JSON.stringify({ platforms: { webhook: { enabled: true, routes: Object.fromEntries(routes) } } });
}

test('no command shows a credential of a request', async (t) => {
  const { sent, schemes, capture, path } = await keepVectors(t, isFirst);
  await capture.close();
  const home = dirname(path);
  writeFileSync(join(home, 'config.yaml'), configOf(sent, 'An event'), { mode: 0o600 });
  writeFileSync(join(home, 'changed.yaml'), configOf(sent, 'Another event'), { mode: 0o600 });
  const said: string[] = [];
  const run = async (...argv: string[]): Promise<string> => {
    const { stdout, stderr } = await runInProcess(argv, { home, env: { WEBHOOK_SECRET: 'a secret of no sender' } });
    said.push(stdout, stderr);
    return stdout;
  };
  const captured = JSON.parse(await run('requests', 'list', '--json', '--limit', '500')) as readonly RequestSummary[];
  assert.equal(captured.length, sent.length);
  await run('requests', 'list', '--grep', 'a');
  for (const { id } of captured.filter((_one, index) => index % STEP === 0)) {
    for (const form of [[], ['--json'], ['--curl'], ['--body'], ['--save', `${id}.json`]])
      await run('requests', 'show', id, ...form);
    await run('explain', '--request', id, '--config', 'config.yaml');
    const saved = join(home, `${id}.json`);
    if (existsSync(saved)) said.push(readFileSync(saved, 'utf8'));
  }
  const [newest] = captured;
  await run('requests', 'show', newest?.id ?? '', '--as-test', '--config', 'config.yaml');
  const all = said.join('\n');
  for (const vector of sent) {
    for (const credential of credentialsOf(vector, schemes.get(vector.scheme) as SchemePlan))
      assert(!all.includes(credential), `${vector.scheme}: ${credential} is shown`);
  }
});
