/**
 * What `lint --fix` does with broken configurations: those of `broken.yaml`, and the mistakes of the tutor's tests. For each one:
 * the file still parses, no problem is new unless an error hid it, and an announced repair was made or the summary says why not.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseDocument } from 'yaml';
import type { Diagnostic } from '../../../../compiler/diagnostics/diagnostic.ts';
import { repairRounds } from '../../../../modules/tutor/compiler/repair-rounds.ts';
import { compileConfig, PROJECT, printed } from '../../../helpers/compile.ts';
import { ROOT } from '../../../helpers/root.ts';
import { sampleOf } from '../../../helpers/sample.ts';

interface Broken {
  readonly name: string;
  readonly config?: string;
  readonly route?: string;
  readonly job?: string;
  readonly becomes?: string;
  readonly stays?: true;
  readonly reveals?: readonly string[];
}

const indented = (text: string, by: number): string => text.replace(/^/gm, ' '.repeat(by));

const configOf = ({ config, route, job }: Broken): string =>
  config ??
  (route === undefined
    ? `platforms:\n  webhook:\n    enabled: true\n    secret: env:S\njobs:\n  a:\n    prompt: x\n${indented(job ?? '', 4)}\n`
    : `platforms:\n  webhook:\n    enabled: true\n    secret: env:S\n    routes:\n      a:\n${indented(route, 8)}\n`);

const read = (path: string): string => readFileSync(join(ROOT, 'test/modules/tutor', path), 'utf8');

/** Problems that an error in the same file of `mistakes/cases` hides. */
const HIDDEN: Readonly<Record<string, readonly string[]>> = parse(read('repairs/hidden.yaml'));

const CASES: readonly Broken[] = [
  ...(parse(read('repairs/broken.yaml')) as readonly Broken[]),
  ...readdirSync(join(ROOT, 'test/modules/tutor/mistakes/cases'))
    .filter((file) => /^[^.]+\.yaml$/.test(file))
    .map((file) => ({ name: file, config: read(`mistakes/cases/${file}`), reveals: HIDDEN[file] ?? [] })),
];

const count = (all: readonly Diagnostic[], one: Diagnostic): number =>
  all.filter(({ rule, message }) => rule === one.rule && message === one.message).length;

describe('a repair', () => {
  for (const broken of sampleOf(CASES)) {
    test(broken.name, () => {
      const config = configOf(broken);
      const found = compileConfig(config);
      const { result, files, left } = repairRounds(found, (texts) =>
        compileConfig(texts.get(`${PROJECT}/hookwright.yaml`)?.after ?? config),
      );
      const text = files[0]?.after ?? config;
      assert.ok(parseDocument(text).errors.length <= parseDocument(config).errors.length, text);

      const isNew = (each: Diagnostic): boolean => count(result.diagnostics, each) > count(found.diagnostics, each);
      const revealed = [...new Set(result.diagnostics.filter(isNew).map(({ rule }) => rule))].sort();
      assert.deepEqual(revealed, [...(broken.reveals ?? [])].sort(), printed(result));

      const announced = found.diagnostics.filter(({ fix }) => fix !== undefined);
      const unsaid = announced.filter(
        (each) =>
          count(result.diagnostics, each) >= count(found.diagnostics, each) &&
          !left.some(({ diagnostic, why }) => diagnostic.message === each.message && why !== ''),
      );
      assert.deepEqual(unsaid, []);

      if (broken.stays === true) assert.equal(text, config);
      if (broken.becomes !== undefined) {
        const lines = text.split('\n').map((line) => line.trim());
        assert.ok(lines.includes(broken.becomes.trim()), text);
      }
      // A second run finds nothing more to do.
      assert.deepEqual(
        repairRounds(result, () => result).files.flatMap(({ fixed }) => fixed),
        [],
      );
    });
  }
});

test('has at least 150 broken configurations', () => {
  assert.ok(CASES.length >= 150, `${CASES.length}`);
});
