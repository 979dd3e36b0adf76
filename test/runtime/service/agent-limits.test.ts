/** Tests the limit of concurrent runs of an agent: a sandboxed program is alone in its folder. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileText } from '../../../main/compiler.ts';
import { limitsOfAgents } from '../../../runtime/service/assemble-work.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

test('an agent with a sandbox has one run at a time if all runs share a folder', async (t) => {
  const sandbox = 'sandbox: { network: none }';
  const cases: readonly (readonly [string, number | null])[] = [
    ['', null],
    ['max_concurrent: 3', 3],
    ['work: shared', null],
    [sandbox, null],
    [`${sandbox}, work: route, max_concurrent: 3`, 3],
    [`${sandbox}, work: shared`, 1],
    [`${sandbox}, cwd: ~/project, max_concurrent: 3`, 1],
  ];
  for (const [parts, limit] of cases) {
    const { table } = await compileText(`agent: { command: [cat], ${parts} }`, { home: tempDir(t), env: {} });
    const limits = limitsOfAgents(table ?? assert.fail());
    assert.deepEqual(
      limits.map(({ max_concurrent }) => max_concurrent),
      limit === null ? [] : [limit],
      parts,
    );
  }
});
