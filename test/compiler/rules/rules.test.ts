import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Diagnostic, Problem } from '../../../compiler/diagnostics/diagnostic.ts';
import { RULES } from '../../../compiler/diagnostics/rule.ts';
import { createLines } from '../../../compiler/print/lines.ts';
import { absolutePath, compileExample, printed } from '../../helpers/compile.ts';
import type { Example, Mark } from '../../helpers/rule-examples.ts';
import { ROOT_FILE, RULE_FOLDERS, readExamples, readRule } from '../../helpers/rule-examples.ts';

describe('every rule', () => {
  for (const rule of RULES) {
    const { bad, good } = readExamples(rule.id);
    test(`${rule.id}: the bad example breaks this rule and no other, at the marked positions`, () => {
      const result = compileExample(bad);
      // The Rule of Two sums up what other rules report in detail.
      const diagnostics = result.diagnostics.filter((each) => each.rule === rule.id || each.rule !== 'rule-of-two');
      assert.deepEqual([...new Set(diagnostics.map((each) => each.rule))], [rule.id], printed(result));
      assert.equal(result.output === null, rule.severity === 'error');
      assert.deepEqual(pointedAt(diagnostics, bad), bad.marks.map(printMark).sort());
    });
    test(`${rule.id}: the good example breaks no rule`, () => {
      const result = compileExample(good);
      assert.deepEqual(result.diagnostics, [], printed(result));
      assert.notEqual(result.output, null);
    });
  }
});

/** The positions without duplicates and files outside the example. */
function pointedAt(diagnostics: readonly Diagnostic[], { files }: Example): readonly string[] {
  const lines = createLines();
  const marks = diagnostics.flatMap(({ source, range }): readonly string[] => {
    const file = [ROOT_FILE, ...Object.keys(files)].find((path) => source.path === absolutePath(path));
    if (file === undefined) return [];
    const { line, column } = lines.positionOf(source, range.start);
    const rest = lines.textOf(source, line).slice(column - 1);
    const length = Math.max(1, Math.min(range.end - range.start, rest.length));
    return [printMark({ file, line, column, length })];
  });
  return [...new Set(marks)].sort();
}

const printMark = ({ file, line, column, length }: Mark): string => `${file}:${line}:${column}, ${length} long`;

const filesOf = (suffix: string): readonly string[] =>
  RULE_FOLDERS.flatMap((folder) => readdirSync(new URL(`../../../${folder}`, import.meta.url)))
    .filter((file) => file.endsWith(suffix) && file !== 'registry.ts')
    .map((file) => file.slice(0, -suffix.length));

/** The rules that the files of a folder check: `rule('<id>', …)`. */
function idsChecked(folder: string): readonly string[] {
  const at = new URL(`../../../${folder}/`, import.meta.url);
  const texts = readdirSync(at)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(file, at), 'utf8'));
  const checks = texts.flatMap((text) => [
    ...text.matchAll(/^export const \w+ = (?:rule|deliveryRule)\(\s*'([^']+)'/gm),
  ]);
  return checks.map(([, id = '']) => id);
}

test('each rule has a YAML file of its name, and each file has a rule', () => {
  assert.deepEqual(RULES.map(({ id }) => id).sort(), [...filesOf('.yaml')].sort());
});

test('each rule has one check, or names the file that implements it', () => {
  const checked = RULE_FOLDERS.flatMap(idsChecked);
  assert.deepEqual(
    checked.filter((id, at) => checked.indexOf(id) !== at || !RULES.some((rule) => rule.id === id)),
    [],
  );
  for (const { id } of RULES) {
    const [, decidedIn] = /^decidedIn: (.+)$/m.exec(readRule(id)) ?? [];
    assert.ok(checked.includes(id) || decidedIn !== undefined, id);
    if (decidedIn === undefined) continue;
    const text = readFileSync(new URL(`../../../${decidedIn}`, import.meta.url), 'utf8');
    assert.ok(text.includes(`'${id}'`), `${decidedIn} does not report ${id}`);
  }
});

test('a problem of an unknown rule does not compile', () => {
  // @ts-expect-error: the type consists of the names of the rules' files.
  const problem: Problem = { rule: 'no-such-rule', path: [], at: 'key', message: '' };
  assert.ok(!RULES.some(({ id }) => id === problem.rule));
});
