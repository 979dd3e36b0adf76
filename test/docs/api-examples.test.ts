/** What the package exports is documented where it is declared, and the examples there run. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import type { ServiceOptions } from '../../runtime/service/options.ts';
import { apiExports, examplesOf, parametersOf, uncommentedMembers } from '../helpers/api-examples.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const SELF = fileURLToPath(import.meta.url);
const MAIN = join(dirname(SELF), '../../main');
const HOME = '/var/lib/app';

const exported = apiExports();

test('the exports of the entries are found', async () => {
  const modules = [
    await import('../../main/hookwright.ts'),
    await import('../../main/compiler.ts'),
    await import('../../main/runtime.ts'),
  ];
  const names = new Set(exported.map(({ name }) => name));
  const values = modules.flatMap((module) => Object.keys(module));
  assert.deepEqual(
    values.filter((name) => !names.has(name)),
    [],
  );
  assert.ok(exported.length > values.length, 'types are exports, too');
});

describe('comments', () => {
  for (const each of exported) {
    test(`${each.file}:${each.line} ${each.name}`, () => {
      assert.ok(examplesOf(each).length > 0, 'has no comment with an `@example`');
      const unnamed = parametersOf(each).filter((name) => !new RegExp(`@param ${name}\\b`).test(each.comment));
      assert.deepEqual(unnamed, [], 'parameters without `@param`');
      assert.deepEqual(uncommentedMembers(each), [], 'members without a comment');
    });
  }
});

const PAGE = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
const onPage = codeBlocks(PAGE).map(({ line, text }) => ({ name: '', at: `docs/library.md:${line}`, code: text }));

test('docs/library.md has every option of createService, and what it says of errors is so', async (t) => {
  const { source = '' } = exported.find(({ name }) => name === 'ServiceOptions') ?? {};
  const options = [...(source.split('\n}')[0] ?? '').matchAll(/^ {2}readonly (\w+)/gm)].map(([, name]) => name);
  const rows = [...PAGE.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(rows, options);
  const { createService } = await import('../../main/runtime.ts');
  const { compileText } = await import('../../main/compiler.ts');
  const home = tempDir(t);
  const yaml = 'platforms: { webhook: { enabled: true, secret: "env:S", routes: { a: { prompt: "{x}" } } } }';
  const { table } = await compileText(yaml, { home, env: { S: 'at-least-16-bytes-long' } });
  const wrong: readonly (readonly [name: string, value: unknown])[] = [
    ...options.map((option = '') => [option, option === 'host' ? 7 : '7'] as const),
    ...Object.entries({ table: { file: 'routes.json' }, home: 'relative', port: 70_000, timezone: 'Nowhere/Here' }),
    ...Object.entries({ env: { S: 7 }, agent: [], blueprints: [7], prot: 80 }),
  ];
  for (const [name, value] of wrong) {
    const given = { table, home, env: {}, [name]: value } as unknown as ServiceOptions;
    await assert.rejects(createService(given), (error) => error instanceof TypeError && error.message.includes(name));
  }
});

describe('examples', () => {
  for (const { name, at, code } of [...exported.flatMap(examplesOf), ...onPage]) {
    test(`${at} ${name}`, async (t) => {
      const dir = tempDir(t);
      const { code: script } = await transform(code, { loader: 'ts', format: 'esm', target: 'es2023' });
      const path = join(dir, 'example.mjs');
      writeFileSync(path, localised(script, join(dir, 'home')));
      t.mock.method(console, 'log', () => {});
      t.mock.method(console, 'error', () => {});
      t.mock.method(process.stderr, 'write', () => true);
      await import(pathToFileURL(path).href);
    });
  }
});

/** The script with the modules of this tree instead of the package, and with its own home. */
const localised = (script: string, home: string): string =>
  script
    .replace(/from "(hookwright(?:\/\w+)?)"/g, (_found, entry: string) => `from ${JSON.stringify(entryUrl(entry))}`)
    .replaceAll(HOME, home);

/** The files of the entries, as package.json has them. */
const FILES: Readonly<Record<string, string>> = {
  hookwright: 'hookwright',
  'hookwright/modules': 'modules-entry',
  'hookwright/compiler': 'compiler',
  'hookwright/runtime': 'runtime',
};

const entryUrl = (entry: string): string => pathToFileURL(join(MAIN, `${FILES[entry]}${extname(SELF)}`)).href;
