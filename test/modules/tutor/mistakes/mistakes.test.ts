/**
 * Typical mistakes in first configs: each file of `cases/` is one mistake. Next to it are the report (`.txt`) and, if a
 * fix exists, the file after `lint --fix` (`.fixed.yaml`). `UPDATE=1` rewrites both.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Diagnostic } from '../../../../compiler/diagnostics/diagnostic.ts';
import { repairRounds } from '../../../../modules/tutor/compiler/repair-rounds.ts';
import { compileConfig, PROJECT, printed } from '../../../helpers/compile.ts';
import { ROOT } from '../../../helpers/root.ts';
import { sampleOf } from '../../../helpers/sample.ts';

const CASES = join(ROOT, 'test/modules/tutor/mistakes/cases');
const names = readdirSync(CASES)
  .filter((file) => file.endsWith('.yaml') && !file.endsWith('.fixed.yaml'))
  .map((file) => file.slice(0, -'.yaml'.length));

/** Valid idioms that were once reported as mistakes. */
const RIGHT: ReadonlySet<string> = new Set(['top-anchor', 'gitlab-without-source']);

function repaired(config: string) {
  const { result, files, left } = repairRounds(compileConfig(config), (texts) =>
    compileConfig(texts.get(`${PROJECT}/hookwright.yaml`)?.after ?? config),
  );
  return { text: files[0]?.after ?? config, result, left };
}

/** Whether a diagnostic says what to do. */
const saysHow = ({ hint, fix, message }: Diagnostic): boolean =>
  hint !== undefined || fix !== undefined || /\b(?:write|put|use|keep|remove|indent|did you mean)\b/.test(message);

function check(path: string, actual: string | null): void {
  if (process.env.UPDATE === '1') {
    if (actual === null) rmSync(path, { force: true });
    else writeFileSync(path, actual);
  }
  assert.equal(actual, existsSync(path) ? readFileSync(path, 'utf8') : null);
}

describe('reports a mistake with its position and the correct form', () => {
  for (const name of sampleOf(names)) {
    test(name.replaceAll('-', ' '), () => {
      const config = readFileSync(join(CASES, `${name}.yaml`), 'utf8');
      const result = compileConfig(config);
      check(join(CASES, `${name}.txt`), printed(result));
      assert.equal(result.diagnostics.length > 0, !RIGHT.has(name));
      for (const diagnostic of result.diagnostics) assert.ok(saysHow(diagnostic), diagnostic.message);
      const { text, result: after, left } = repaired(config);
      check(join(CASES, `${name}.fixed.yaml`), text === config ? null : text);
      const fixed = new Set(result.diagnostics.filter(({ fix }) => fix !== undefined).map(({ message }) => message));
      const explained = new Set(left.map(({ diagnostic }) => diagnostic.message));
      const unsaid = after.diagnostics.filter(({ message }) => fixed.has(message) && !explained.has(message));
      assert.deepEqual(unsaid, [], printed(after));
    });
  }
});

test('has at least forty mistakes', () => {
  assert.ok(names.length - RIGHT.size >= 40, `${names.length}`);
});
