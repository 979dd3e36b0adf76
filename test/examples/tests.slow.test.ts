/** Checks that the examples' tests fail when their configs are broken. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isMap, isScalar, isSeq, parseDocument, visit } from 'yaml';
import type { CliResult } from '../helpers/cli.ts';
import { runInProcess } from '../helpers/cli.ts';
import { copyExamples } from '../helpers/example.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
/** Examples with a config; one example shows the package as a library. */
const NAMES = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, 'hookwright.yaml')));
const TESTS = 'hookwright.test.yaml';

interface Mutant {
  readonly what: string;
  readonly text: string;
}

/** Configs with one defect: a negated filter leaf, or a misspelt entry of `events` or placeholder. */
function mutantsOf(config: string): Mutant[] {
  const count = parts(config).length;
  return Array.from({ length: count }, (_, at) => {
    const document = parseDocument(config);
    const part = partsIn(document)[at];
    assert(part !== undefined);
    part.break();
    return { what: part.what, text: document.toString() };
  });
}

interface ConfigPart {
  readonly what: string;
  readonly break: () => void;
}

const parts = (config: string): ConfigPart[] => partsIn(parseDocument(config));

function partsIn(document: ReturnType<typeof parseDocument>): ConfigPart[] {
  const found: ConfigPart[] = [];
  visit(document, {
    Pair(_, { key, value }) {
      const name = isScalar(key) ? String(key.value) : '';
      if (name === 'events' && isSeq(value)) {
        for (const item of value.items) {
          if (isScalar(item))
            found.push({
              what: `events ${item.value}`,
              break: () => {
                item.value = `${item.value}_x`;
              },
            });
        }
      }
    },
    Map(_, map) {
      const operator = map.items.find(({ key }) => isScalar(key) && key.value !== 'field');
      if (!map.has('field') || operator === undefined) return;
      const leaf = map.clone();
      found.push({
        what: `filter ${String(map.get('field'))}`,
        break: () => {
          map.items = [];
          map.set('not', leaf);
        },
      });
    },
    Scalar(key, scalar) {
      if (key === 'key' || typeof scalar.value !== 'string') return;
      for (const [placeholder] of scalar.value.matchAll(/\{[a-z_.]+\}/g)) {
        const broken = placeholder.replace('}', '_x}');
        found.push({
          what: `placeholder ${placeholder}`,
          break: () => {
            scalar.value = String(scalar.value).replaceAll(placeholder, broken);
          },
        });
      }
    },
  });
  assert(isMap(document.contents));
  return found;
}

test('the tests detect 95 of 100 defects', async (t) => {
  const missed: string[] = [];
  let tried = 0;
  for (const name of NAMES) {
    const dir = join(tempDir(t), name);
    copyExamples(dir, name);
    const config = join(dir, 'hookwright.yaml');
    const run = (): Promise<CliResult> =>
      runInProcess(['test', join(dir, TESTS)], { home: join(dir, 'home'), cwd: dir });
    for (const { what, text } of mutantsOf(readFileSync(config, 'utf8'))) {
      writeFileSync(config, text);
      const { code, stdout } = await run();
      tried++;
      if (code === 0) missed.push(`${name}: ${what}`);
      else assert.match(stdout, /failed/, `${name}: ${what} still compiles`);
    }
  }
  t.diagnostic(`${tried} broken configs, ${missed.length} not noticed`);
  assert(tried >= 50, `${tried}`);
  assert(missed.length <= tried * 0.05, missed.join('\n'));
});
