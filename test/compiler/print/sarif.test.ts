/** Validates the output of `--format sarif` against the schema of SARIF 2.1.0 (see fixtures/sarif/README.md). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Ajv from 'ajv';
import { printDiagnostics } from '../../../compiler/print/print.ts';
import { compileConfig, compileFiles } from '../../helpers/compile.ts';
import { ROOT } from '../../helpers/root.ts';

const schema = JSON.parse(readFileSync(join(ROOT, 'test/fixtures/sarif/sarif-schema-2.1.0.json'), 'utf8'));

/** The schema is draft 4, which differs here only in its `id`. */
const { $schema: _, id: __, ...body } = schema;
const validate = new Ajv.default({ strict: false, allErrors: true, validateFormats: false }).compile(body);

const CONFIGS = {
  'without a diagnostic': `platforms:
  webhook: { enabled: true, secret: env:S, routes: { a: { prompt: "{title}" } } }
`,
  'with errors, warnings, hints and repairs': `platforms:
  webhook:
    enabled: yes
    secret: short
    routes:
      a: { promt: "{title}", events: push, deliver: telegramm }
      b: { prompt: "{{title}}", toolsets: [terminal, nope] }
`,
  'that is not YAML': 'a: {b: c\n  d',
};

const check = (text: string): void => {
  assert.ok(validate(JSON.parse(text)), JSON.stringify(validate.errors, null, 2));
};

for (const [name, config] of Object.entries(CONFIGS)) {
  test(`a config ${name}`, () => {
    check(printDiagnostics('sarif', compileConfig(config).diagnostics, { color: false, width: 80 }));
  });
}

test('places in several files, and a file that is missing', () => {
  const route = 'platforms: { webhook: { routes: { a: { prompt: x } } } }';
  const files = { 'hookwright.yaml': `include: [b.yaml, gone.yaml]\n${route}\n`, 'b.yaml': `${route}\n` };
  check(printDiagnostics('sarif', compileFiles(files).diagnostics, { color: false, width: 80 }));
});

test('the schema rejects other JSON', () => {
  assert.equal(validate({ version: '2.1.0', runs: [{ results: [] }] }), false);
});
