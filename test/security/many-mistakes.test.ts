/** Tests that what is printed of many mistakes grows with the file, also if they are all on one line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompileResult } from '../../compiler/compile.ts';
import type { DiagnosticFormat } from '../../compiler/print/print.ts';
import { printDiagnostics } from '../../compiler/print/print.ts';
import { compileConfig } from '../helpers/compile.ts';

const list = (count: number, one: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => one(at)).join(', ');
const inRoutes = (routes: string): string => `platforms: { webhook: { extra: { routes: { ${routes} } } } }\n`;

const FILES: Readonly<Record<string, (count: number) => string>> = {
  'with repairs': (count) => inRoutes(list(count, (at) => `r${at}: {promt: x, sorce: y}`)),
  'with repairs and wide characters': (count) => inRoutes(list(count, (at) => `r${at}: {promt: 名前, sorce: y}`)),
  'below a long key': (count) => inRoutes(`${'k'.repeat(20 * count)}: { ${list(count, (at) => `a${at}: x`)} }`),
  'of one name': (count) => inRoutes(list(count, () => 'r: {prompt: x}')),
};

const printed = ({ diagnostics }: CompileResult, format: DiagnosticFormat): string =>
  printDiagnostics(format, diagnostics, { color: false, width: 100 });

for (const [what, make] of Object.entries(FILES)) {
  test(`mistakes on one line, ${what}`, () => {
    const result = compileConfig(make(600));
    for (const format of ['pretty', 'github'] as const) {
      const text = printed(result, format);
      assert.ok(text.length < 1_500_000, `${format}: ${text.length}`);
    }
  });
}

test('the worst mistakes are shown, and the number of the others', () => {
  const warning = 'a: { source: github, secret: env:S, deliver: log, prompt: "{a}", typo: 1 }';
  const result = compileConfig(inRoutes(`${list(700, (at) => `r${at}: {promt: x}`)}, ${warning}`));
  const errors = result.diagnostics.filter(({ severity }) => severity === 'error').length;
  const hidden = result.diagnostics.length - 500;
  assert.ok(errors > 500);
  assert.match(printed(result, 'pretty'), new RegExp(`\\b${errors} errors\\b.*\\b${hidden} of them`));
  assert.match(printed(result, 'github'), new RegExp(`^::notice::${hidden} more`, 'm'));
  assert.equal((JSON.parse(printed(result, 'json')) as unknown[]).length, result.diagnostics.length);
});
