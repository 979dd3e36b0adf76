/** A text that shows nothing is blank, for the compiler and for the runtime. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isBlank, VISIBLE } from '../../base/text.ts';
import { readField } from '../../modules/outputs/runtime/open-handover.ts';
import { preparePieces } from '../../runtime/deliver/prepare-text.ts';
import { readAnswer } from '../../runtime/dispatch/run-agent.ts';
import type { ContentField, TextPlan } from '../../schemas/generated/types.ts';
import { runInProcess } from '../helpers/cli.ts';
import { compileConfig } from '../helpers/compile.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** Zero-width space and joiner, soft hyphen, fillers, Braille blank, a tag, a direction mark, spaces and lines. */
const BLANK = [
  '',
  ' ',
  '\u00a0\n\t',
  '\u200b',
  '\u200d',
  '\u00ad',
  '\u3164',
  '\u115f ',
  '\u2800',
  '\u{e0041}',
  '\u202e\u2066',
  '\u2028',
  '\ufe0f',
];
const SHOWN = ['a', '.', '\u200ba', '\u2800-', '❤\ufe0f', '👨\u200d👩', 'ä', '漢', '\u0301'];

const PLAN: TextPlan = {
  limit: null,
  unit: 'utf16',
  overflow: 'split',
  max_pieces: 9,
  numbered: false,
  transforms: [],
};

test('blank texts show nothing', () => {
  for (const text of BLANK) assert.ok(isBlank(text), JSON.stringify(text));
  for (const text of SHOWN) assert.ok(!isBlank(text), text);
});

test('schemas have the same rule', () => {
  const folder = join(ROOT, 'schemas');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const patterns = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/"pattern": ("(?:\\S|\[\^\\\\s|\\\\S)[^"]*")/g)].map(
      ([, pattern = '']) => JSON.parse(pattern) as string,
    ),
  );
  assert.ok(patterns.length >= 4);
  assert.deepEqual([...new Set(patterns)], [VISIBLE]);
});

describe('the compiler refuses, at its place, a blank', () => {
  const route = { prompt: 'x', agent: 'none' };
  const PLACES: Readonly<Record<string, (text: string) => object>> = {
    'prompt of a job': (prompt) => ({ jobs: { j: { schedule: '0 9 * * *', prompt } } }),
    'reason of a confined agent': (confined) => ({ agent: { command: ['x'], confined } }),
    'reason for untrusted input': (accept_untrusted) => ({
      platforms: { webhook: { enabled: true, secret: 'env:S', routes: { a: { ...route, accept_untrusted } } } },
    }),
  };
  for (const [place, configOf] of Object.entries(PLACES))
    test(place, () => {
      const places = (text: string) =>
        compileConfig(JSON.stringify(configOf(text))).diagnostics.flatMap(({ rule, source, range }) =>
          rule === 'invalid-value' ? [source.text.slice(range.start, range.end)] : [],
        );
      for (const text of BLANK) assert.ok(places(text).includes(JSON.stringify(text)), JSON.stringify(text));
      for (const text of SHOWN) assert.deepEqual(places(text), []);
    });
});

describe('the runtime treats as empty a blank', () => {
  test('text of a message', () => {
    for (const text of BLANK) assert.equal(preparePieces(PLAN, text).kind, 'refused', JSON.stringify(text));
    for (const text of SHOWN) assert.equal(preparePieces(PLAN, text).kind, 'pieces');
  });

  test('answer of an agent', () => {
    for (const text of BLANK) assert.equal(readAnswer(text).kind, 'silent', JSON.stringify(text));
    for (const text of SHOWN) assert.equal(readAnswer(text).kind, 'answered');
  });

  test('text of an output', () => {
    const field: ContentField = { name: 'text', kind: 'text', required: true, help: '' };
    const isRefused = (text: string): boolean => 'wrong' in readField(text, field, (raw) => raw);
    for (const text of BLANK) assert.ok(isRefused(text), JSON.stringify(text));
    for (const text of SHOWN) assert.ok(!isRefused(text));
  });
});

test('a job with a blank prompt is not created', async (t) => {
  const home = tempDir(t);
  for (const prompt of ['\u200b', '\u2800 ']) {
    const { code, stderr } = await runInProcess(['job', 'create', 'a', '--schedule', '0 9 * * *', '--prompt', prompt], {
      home,
    });
    assert.notEqual(code, 0, stderr);
  }
});
