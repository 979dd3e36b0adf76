import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { RULES } from '../../../compiler/rules/registry.ts';
import { compileExample, printed } from '../../helpers/compile.ts';

describe('every rule', () => {
  for (const rule of RULES) {
    test(`${rule.id}: the bad example breaks this rule and no other`, () => {
      const result = compileExample(rule.bad);
      const found = new Set(result.diagnostics.map((diagnostic) => diagnostic.rule));
      assert.deepEqual([...found], [rule.id], printed(result));
      assert.equal(result.output === null, rule.severity === 'error');
    });
    test(`${rule.id}: the good example breaks no rule`, () => {
      const result = compileExample(rule.good);
      assert.deepEqual(result.diagnostics, [], printed(result));
      assert.notEqual(result.output, null);
    });
  }
});

test('the registry is the folder: each rule has a file of its own name', () => {
  const files = readdirSync(new URL('../../../compiler/rules/', import.meta.url))
    .filter((file) => file.endsWith('.ts') && file !== 'registry.ts')
    .map((file) => file.slice(0, -'.ts'.length));
  assert.deepEqual(RULES.map((rule) => rule.id).sort(), files.sort());
});

test('what any stage of the compiler reports is a rule', () => {
  const root = new URL('../../../compiler/', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const reported = files.flatMap((file) => {
    const text = readFileSync(new URL(file, root), 'utf8');
    const calls = text.matchAll(
      /(?:\brule: |\b(?:report|reportValue|fail|add|problem)\((?:\w+, )?)'([a-z]+(?:-[a-z]+)+)'/g,
    );
    return [...calls].map((match) => match[1] ?? '');
  });
  const known = new Set(RULES.map((rule) => rule.id));
  assert.ok(reported.length > 20);
  assert.deepEqual(
    [...new Set(reported)].filter((rule) => !known.has(rule)),
    [],
  );
});
