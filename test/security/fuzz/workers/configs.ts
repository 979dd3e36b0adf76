/**
 * Fuzzes config texts: damaged examples of every rule and of the repository. For any file, the compiler ends with a table that
 * can be loaded, or with diagnostics that can be printed.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { CompileResult } from '../../../../compiler/compile.ts';
import { RULES } from '../../../../compiler/diagnostics/rule.ts';
import { DIAGNOSTIC_FORMATS, printDiagnostics } from '../../../../compiler/print/print.ts';
import { compileFiles, printed } from '../../../helpers/compile.ts';
import { readExamples } from '../../../helpers/rule-examples.ts';
import { damaged, jsonOf } from '../damage.ts';
import { loadAndLink } from '../load-and-link.ts';
import { ODD_TEXTS, schemaWords } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';

interface ConfigCase {
  /** hookwright.yaml. */
  readonly config: string;
  /** `<home_dir>/.env`. */
  readonly env: string;
}

const FOLDERS = ['../../../../examples/', '../../../compiler/golden/'];

/** Every config of the repository's examples and golden tests. */
function shippedConfigs(): readonly string[] {
  return FOLDERS.map((folder) => new URL(folder, import.meta.url)).flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => readFileSync(new URL(file, folder), 'utf8')),
  );
}

const SEEDS = [
  ...shippedConfigs(),
  ...RULES.flatMap(({ id }) => Object.values(readExamples(id)).map(({ config }) => config)),
];

const YAML_WORDS = [
  ...[
    '\n',
    '\n\n',
    ': ',
    '- ',
    '{',
    '}',
    '[',
    ']',
    ', ',
    '&a ',
    '*a',
    '<<: *a',
    '"',
    "'",
    '|\n',
    '>-\n',
    '\t',
    '!!x ',
    '#',
  ],
  ...['? ', '---\n', '...\n', '%YAML 1.1\n', '~', '0x1F', '.inf', '2020-01-01', '  ', '    ', '\r\n', '\n  ', '\n    '],
];
const WORDS = [...YAML_WORDS, ...YAML_WORDS, ...schemaWords(), ...ODD_TEXTS];

/** Timeout of the compiler for a config of this size, in ms; it runs in its own thread or command. */
const COMPILE_MS = 2000;

function checkDiagnostics(result: CompileResult): void {
  const hasError = result.diagnostics.some(({ severity }) => severity === 'error');
  assert.equal(result.output === null, hasError, 'a table and an error, or neither');
  for (const { range, source } of result.diagnostics)
    assert.ok(
      range.start >= 0 && range.end >= range.start && range.end <= source.text.length,
      'a range outside of its file',
    );
  for (const format of DIAGNOSTIC_FORMATS) {
    const text = printDiagnostics(format, result.diagnostics, { color: false, width: 80 });
    if (format === 'json' || format === 'sarif') JSON.parse(text);
    else assert.doesNotMatch(text, /[\0-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]/, 'a control character');
  }
}

export const configs: FuzzWorker<ConfigCase> = {
  name: 'configs',
  cases: fc.record({
    config: fc.oneof(
      { weight: 8, arbitrary: damaged(SEEDS, WORDS, 6) },
      { weight: 1, arbitrary: jsonOf(WORDS, 6).map((value) => JSON.stringify(value)) },
    ),
    env: damaged(['', 'A=1\n', 'export S="x\\n"\n# c\nT=\'y\'\n'], WORDS, 3),
  }),
  open: async () => ({
    longestMs: COMPILE_MS,
    close: async () => {},
    async run({ config, env }) {
      const result = compileFiles({ 'hookwright.yaml': { content: config, mode: 0o600 }, '~/.hookwright/.env': env });
      checkDiagnostics(result);
      printed(result);
      if (result.output !== null) await loadAndLink(Buffer.from(result.output.routesJson), 'whole');
    },
  }),
};
