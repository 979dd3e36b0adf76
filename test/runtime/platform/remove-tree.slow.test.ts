import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TreeRemover } from '../../../runtime/platform/files.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

function setUp(t: TestContext) {
  const folder = tempDir(t);
  const log = recordLog();
  const depot = join(folder, 'removed');
  const tree = join(folder, 'tree');
  mkdirSync(tree);
  const remover = new TreeRemover(depot, log);
  const isEmptied = (): Promise<boolean> => until(async () => readdirSync(depot).length === 0);
  const fill = (script: string): Buffer => execFileSync('/bin/sh', ['-ec', script], { cwd: tree });
  return { folder, log, depot, tree, remover, isEmptied, fill };
}

const TREES: Readonly<Record<string, string>> = {
  'folders that may not be written, read or entered':
    'mkdir -p a/b c/d; touch a/b/f c/d/f; chmod 500 a/b a; chmod 0 c/d c',
  'a tree deeper than a path can be long':
    'n=$(printf %0200d); ' +
    `${process.execPath} -e 'for (let i = 0; i < 40; i++) { fs.mkdirSync("'$n'"); process.chdir("'$n'") }'`,
  'names that are not UTF-8':
    'mkdir "$(printf "\\303(\\377")"; touch "$(printf "\\377\\376")" "$(printf "\\303(\\377")/$(printf "\\200")"',
  'pipes and hidden files': 'mkfifo pipe; touch .hidden; mkdir .git; touch .git/HEAD',
  'many files': 'mkdir many; cd many; i=0; while [ $i -lt 500 ]; do : > f$i; i=$((i+1)); done',
};

describe('TreeRemover', () => {
  for (const [what, script] of Object.entries(TREES)) {
    it(`removes ${what}`, async (t) => {
      const { tree, remover, isEmptied, log, fill } = setUp(t);
      fill(script);
      await remover.remove(tree);
      assert.ok(!existsSync(tree), 'gone at once');
      assert.ok(await isEmptied(), JSON.stringify(log.lines));
      assert.deepEqual(log.lines, []);
    });
  }

  it('leaves a folder that a process keeps filling, logs it once, and continues with the others', async (t) => {
    const { folder, depot, tree, remover, log, fill } = setUp(t);
    fill('mkdir a');
    const program =
      'const fs = require("node:fs"); setInterval(() => { for (let i = 0; i < 50; i++) try { fs.writeFileSync("f" + Math.random(), "") } catch {} }, 0)';
    const writer = spawn(process.execPath, ['-e', program], { cwd: tree });
    atEnd(t, () => void writer.kill('SIGKILL'));
    while (readdirSync(tree).length < 100) await sleep(10);
    await remover.remove(tree);
    const next = join(folder, 'next');
    mkdirSync(join(next, 'within'), { recursive: true });
    await remover.remove(next);
    // On a busy machine, the writer may be faster than the remover for long.
    await until(async () => readdirSync(depot).length <= 1);
    assert.ok(log.lines.length <= 1);
  });

  it('does not follow links out of the tree', async (t) => {
    const { folder, tree, remover, isEmptied, fill } = setUp(t);
    const outside = join(folder, 'outside');
    mkdirSync(join(outside, 'within'), { recursive: true });
    writeFileSync(join(outside, 'within', 'kept'), 'kept');
    fill(
      `ln -s ${outside} folder; ln -s ${outside}/within/kept file; ln -s / root; mkdir a; ln -s ../../../outside a/up`,
    );
    await remover.remove(tree);
    assert.ok(await isEmptied());
    assert.equal(readFileSync(join(outside, 'within', 'kept'), 'utf8'), 'kept');
  });
});
