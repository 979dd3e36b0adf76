/** Generators of damaged text and bytes: a valid one, cut, repeated and mixed with words of a dictionary. */
import fc from 'fast-check';
import { anyText } from '../../helpers/any-text.ts';

interface Edit {
  readonly at: number;
  readonly cut: number;
  readonly insert: string;
  readonly times: number;
}

/** Maximum length of a text made by repetition, in UTF-16 units. */
const LONGEST = 65_536;

/** Positions are shares of the text, so that an edit fits any. */
const SCALE = 1 << 16;

function edit(words: readonly string[]): fc.Arbitrary<Edit> {
  const insert = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...words) },
    { weight: 1, arbitrary: anyText({ maxLength: 4 }) },
  );
  const times = fc.oneof(
    { weight: 20, arbitrary: fc.constant(1) },
    { weight: 2, arbitrary: fc.nat({ max: 30 }) },
    { weight: 1, arbitrary: fc.nat({ max: 4000 }) },
  );
  const cut = fc.oneof({ weight: 6, arbitrary: fc.nat({ max: 12 }) }, { weight: 1, arbitrary: fc.nat({ max: 400 }) });
  return fc.record({ at: fc.nat({ max: SCALE }), cut, insert, times });
}

function apply(text: string, { at, cut, insert, times }: Edit): string {
  const start = Math.floor((at / SCALE) * text.length);
  const grown = insert.repeat(Math.min(times, Math.floor(LONGEST / Math.max(1, insert.length))));
  return text.slice(0, start) + grown + text.slice(start + cut);
}

/** One of the seeds with up to `edits` of its parts changed; sometimes unchanged. Shrinks towards the seed. */
export function damaged(seeds: readonly string[], words: readonly string[], edits = 4): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...seeds), fc.array(edit(words), { maxLength: edits }))
    .map(([seed, changes]) => changes.reduce(apply, seed));
}

/** Text with one character for each byte: the form of cases that need not be UTF-8. */
export const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Any JSON value, with the words of the dictionary as keys and texts. */
export function jsonOf(words: readonly string[], maxDepth = 4): fc.Arbitrary<unknown> {
  const word = fc.constantFrom(...words);
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth, depthSize: 'small' },
      fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e300),
      word,
      anyText({ maxLength: 8 }),
      fc.dictionary(word, tie('tree'), { maxKeys: 4 }),
      fc.array(tie('tree'), { maxLength: 4 }),
    ),
  }));
  return tree;
}
