import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Ending } from '../helpers/at-end.ts';
import { atEnd } from '../helpers/at-end.ts';
import { copyExamples } from '../helpers/example.ts';
import { until } from '../helpers/gateway.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

/** A clone with a copy of the examples, so that other tests do not see files that the gateway writes beside its configuration. */
function makeClone(t: Ending): string {
  const clone = tempDir(t);
  for (const name of readdirSync(ROOT))
    if (name !== 'examples' && name !== 'build') symlinkSync(join(ROOT, name), join(clone, name));
  copyExamples(join(clone, 'examples'));
  return clone;
}

/** Runs a command line in the clone, with a separate home. */
function run(line: string, cwd: string, home: string): Running {
  const env = { ...process.env, HOOKWRIGHT_HOME: home, NO_COLOR: '1' };
  // A separate process group, because npm does not forward signals.
  const child = spawn('bash', ['-c', line], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output: () => output, ended };
}

test('the quick start of the README: npm start, and an event from a second terminal', async (t) => {
  const [clone, home] = [makeClone(t), tempDir(t)];
  const lines = codeBlocks(readFileSync(join(ROOT, 'README.md'), 'utf8')).flatMap(({ language, text }) =>
    language === 'sh' ? text.trimEnd().split('\n') : [],
  );
  assert.deepEqual(lines.slice(0, 2), ['npm ci', 'npm start']);
  const post = lines[2] ?? '';
  assert.match(post, /webhook test pull-requests/);

  const server = run('npm start -- --port 0', clone, home);
  atEnd(t, () => process.kill(-(server.child.pid ?? 0), 'SIGKILL'));
  await until(async () => server.output().includes('"listening"') || (server.child.exitCode !== null && 'ended'));
  const event = run(post, clone, home);
  assert.equal(await event.ended, 0, event.output() + server.output());
  assert.match(event.output(), /^202 \{"status":"accepted"/m);
  await until(async () => server.output().includes('Summarise pull request #2 of Codertocat/Hello-World'));
});
