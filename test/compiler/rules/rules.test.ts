import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts';
import type { Problem } from '../../../compiler/diagnostics/problem.ts';
import { createLines } from '../../../compiler/print/lines.ts';
import { RULES } from '../../../compiler/rules/registry.ts';
import { unknownKey } from '../../../compiler/rules/unknown-key.ts';
import { absolutePath, compileExample, printed } from '../../helpers/compile.ts';
import type { Example, Mark } from '../../helpers/rule-examples.ts';
import { ROOT_FILE, readExamples } from '../../helpers/rule-examples.ts';

describe('every rule', () => {
  for (const rule of RULES) {
    const { bad, good } = readExamples(rule.id);
    test(`${rule.id}: the bad example breaks this rule and no other`, () => {
      const result = compileExample(bad);
      const found = new Set(result.diagnostics.map((diagnostic) => diagnostic.rule));
      assert.deepEqual([...found], [rule.id], printed(result));
      assert.equal(result.output === null, rule.severity === 'error');
    });
    test(`${rule.id}: it points at what the bad example marks`, () => {
      assert.deepEqual(pointedAt(compileExample(bad).diagnostics, bad), bad.marks.map(printMark).sort());
    });
    test(`${rule.id}: the good example breaks no rule`, () => {
      const result = compileExample(good);
      assert.deepEqual(result.diagnostics, [], printed(result));
      assert.notEqual(result.output, null);
    });
  }
});

/** Each once, without those that are in no file of the example. */
function pointedAt(diagnostics: readonly Diagnostic[], { files }: Example): readonly string[] {
  const lines = createLines();
  const marks = diagnostics.flatMap(({ source, range, focus = range }): readonly string[] => {
    const file = [ROOT_FILE, ...Object.keys(files)].find((path) => source.path === absolutePath(path));
    if (file === undefined) return [];
    const { line, column } = lines.positionOf(source, focus.start);
    const rest = lines.textOf(source, line).slice(column - 1);
    const length = Math.max(1, Math.min(focus.end - focus.start, rest.length));
    return [printMark({ file, line, column, length })];
  });
  return [...new Set(marks)].sort();
}

const printMark = ({ file, line, column, length }: Mark): string => `${file}:${line}:${column}, ${length} long`;

test('the registry is the folder: each rule has a file of its own name', () => {
  const files = readdirSync(new URL('../../../compiler/rules/', import.meta.url))
    .filter((file) => file.endsWith('.ts') && file !== 'registry.ts')
    .map((file) => file.slice(0, -'.ts'.length));
  assert.deepEqual(RULES.map((rule) => rule.id).sort(), files.sort());
});

test('each example belongs to a rule', () => {
  const files = readdirSync(new URL('../../../compiler/rules/', import.meta.url)).filter((file) =>
    file.endsWith('.yaml'),
  );
  assert.deepEqual(files, RULES.map(({ id }) => `${id}.yaml`).sort());
});

test('each rule has its check, or names the file that decides', () => {
  for (const rule of RULES) {
    const hasCheck = Object.entries(rule).some(
      ([key, value]) => key.startsWith('check') && typeof value === 'function',
    );
    assert.ok(hasCheck || rule.decidedIn !== undefined, rule.id);
    if (rule.decidedIn === undefined) continue;
    const text = readFileSync(new URL(`../../../compiler/${rule.decidedIn}`, import.meta.url), 'utf8');
    assert.match(text, new RegExp(`rules/${rule.id}\\.ts'`), `${rule.decidedIn} does not report ${rule.id}`);
  }
});

test('a problem of a rule that is not listed does not compile', () => {
  // @ts-expect-error: the type is made of the names of the rules' files.
  const problem: Problem = { rule: { ...unknownKey, id: 'no-such-rule' }, path: [], at: 'key', message: '' };
  assert.ok(!RULES.some((rule) => rule.id === problem.rule.id));
});
