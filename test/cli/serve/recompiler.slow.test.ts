import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { moduleUrl, nodeArgv } from '../../helpers/node-argv.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const [node = '', ...options] = nodeArgv(new URL('../../../main/cli.js', import.meta.url)).slice(0, -1);
const recompiler = moduleUrl(new URL('../../../cli/serve/reloader.js', import.meta.url));
const thread = moduleUrl(new URL('../../../main/recompile-thread.js', import.meta.url));
const clock = moduleUrl(new URL('../../../runtime/platform/clock.js', import.meta.url));

/** The output of a process that compiles; with `waits` it has other work until the compile has ended. */
async function compileIn(cwd: string, waits: boolean): Promise<string> {
  const program = `
    import { Recompiler } from ${JSON.stringify(recompiler)};
    import { systemClock } from ${JSON.stringify(clock)};
    const request = { cwd: ${JSON.stringify(cwd)}, home: ${JSON.stringify(cwd)}, configs: [], env: {}, flags: {},
      catalog: { packs: [], files: [] }, jobs: [], out: undefined, color: false, width: 80, failOn: [] };
    const done = () => process.stdout.write('compiled');
    const context = { request: async () => request, clock: systemClock, thread: new URL(${JSON.stringify(thread)}), done, failed: console.error };
    const other = ${waits} ? setInterval(() => {}, 1_000) : undefined;
    new Recompiler(context).compile().finally(() => clearInterval(other));`;
  const file = join(cwd, 'program.mjs');
  writeFileSync(file, program);
  const { stdout } = await promisify(execFile)(node, [...options, file]);
  return stdout;
}

test('a stopped gateway does not wait for a compile in progress', async (t) => {
  const dir = tempDir(t);
  assert.equal(await compileIn(dir, false), '');
  assert.equal(await compileIn(dir, true), 'compiled');
});
