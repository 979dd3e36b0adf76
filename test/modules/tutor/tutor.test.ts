/** Without the tutor, the compiler reports the same mistakes by the rules of the schema, without fixes. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createLines } from '../../../compiler/print/lines.ts';
import { compileConfig, compileFiles, MODULES } from '../../helpers/compile.ts';
import { ROOT } from '../../helpers/root.ts';
import { sampleOf } from '../../helpers/sample.ts';

const CASES = join(ROOT, 'test/modules/tutor/mistakes/cases');
const modules = MODULES.filter(({ tutor }) => tutor === undefined);

const TEXTS: ReadonlySet<string> = new Set(['template-braces', 'foreign-path', 'filter-glob', 'literal-prompt']);

describe('without the tutor', () => {
  for (const file of sampleOf(readdirSync(CASES).filter((name) => /^[^.]+\.yaml$/.test(name)))) {
    test(`reports the mistake in ${file}`, () => {
      const config = readFileSync(join(CASES, file), 'utf8');
      const [plain, told] = [compileConfig(config, { modules }), compileConfig(config)];
      assert.equal(plain.output === null, told.output === null);
      // Spellings of other tools that are valid text are known only to the tutor.
      const known = told.diagnostics.filter(({ rule }) => !TEXTS.has(rule));
      assert.ok(plain.diagnostics.length >= Math.min(1, known.length));
      for (const { fix, message } of plain.diagnostics) {
        assert.equal(fix, undefined);
        assert.notEqual(message, '');
      }
    });
  }

  test('reports rule and position of a misspelt key, and the intended key', () => {
    const config = 'platforms:\n  webhook:\n    enabled: true\n    prot: 8644\n';
    const { diagnostics } = compileConfig(config, { modules });
    const lines = createLines();
    const [found] = diagnostics.filter(({ rule }) => rule === 'unknown-key');
    assert.ok(found);
    assert.deepEqual(lines.positionOf(found.source, found.range.start), { line: 4, column: 5 });
    assert.match(found.message, /`port`/);
  });

  test('reports the position of invalid YAML', () => {
    const { diagnostics } = compileConfig('platforms:\n  webhook: {enabled: true\n', { modules });
    assert.deepEqual(
      diagnostics.map(({ rule, severity }) => [rule, severity]),
      [['yaml-syntax', 'error']],
    );
  });
});

test('a mistake in a subscription has the rule of subscriptions and a fix', () => {
  const { diagnostics } = compileFiles({
    'hookwright.yaml': 'platforms: { webhook: { enabled: true, secret: env:S } }\n',
    '~/.hookwright/webhook_subscriptions.json': '{"s":{"template":"x"}}',
  });
  const [found] = diagnostics.filter(({ rule }) => rule === 'subscription-rejected');
  assert.match(found?.message ?? '', /`s`: .*`template`.*`prompt`/);
  assert.deepEqual(
    found?.fix?.map(({ text }) => text),
    ['"prompt"'],
  );
});
