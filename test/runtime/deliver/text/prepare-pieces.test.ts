/** Tests splitting: nothing is lost, no piece is too long, no character is cut. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { measure, preparePieces, splitText, transformText } from '../../../../runtime/deliver/prepare-text.ts';
import type { TextPlan } from '../../../../schemas/generated/types.ts';
import { anyText } from '../../../helpers/any-text.ts';

const plan = (more: Partial<TextPlan> = {}): TextPlan => ({
  limit: 20,
  unit: 'utf16',
  overflow: 'split',
  max_pieces: 100_000,
  numbered: false,
  transforms: [],
  ...more,
});

function piecesOf(text: string, more: Partial<TextPlan> = {}): readonly string[] {
  const pieces = preparePieces(plan(more), text);
  assert.equal(pieces.kind, 'pieces', JSON.stringify(pieces));
  return pieces.kind === 'pieces' ? pieces.pieces : [];
}

/** Words, blanks, fences, mentions, entities, astral characters, marks, joined emoji, flags, lone surrogates. */
const FRAGMENTS = [
  'word ',
  'a',
  '\n',
  '\n\n',
  '\r\n',
  '   ',
  '```\ncode();\n```\n',
  '@everyone ',
  '<!channel>',
  '&',
  '"quote"',
  '\t',
  '\u0007',
  'ä',
  '漢字',
  '😀',
  'e\u0301\u0323',
  '👨‍👩‍👧‍👦',
  '🇩🇪',
  '\u00A0',
  'x'.repeat(50),
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), anyText({ maxLength: 8 })), { maxLength: 80 })
  .map((parts) => parts.join(''));
const unit = fc.constantFrom('utf16' as const, 'codepoint' as const, 'byte' as const, 'json_byte' as const);
const transforms = fc.subarray<TextPlan['transforms'][number]>([
  'slack_entities',
  'zwsp_after_at',
  'break_angle_at',
  'strip_controls',
]);
const RUNS = { numRuns: 300, seed: 20_260_101 };

describe('properties', () => {
  test('the pieces joined are the transformed text, and each is within the limit in its own unit', () => {
    fc.assert(
      fc.property(text, unit, transforms, fc.integer({ min: 20, max: 200 }), (raw, inUnit, named, limit) => {
        const pieces = preparePieces(plan({ limit, unit: inUnit, transforms: named }), raw);
        const whole = transformText(raw, named);
        if (pieces.kind === 'refused') return assert.equal(whole.trim(), '');
        assert.equal(pieces.pieces.join(''), whole);
        for (const piece of pieces.pieces) {
          assert.ok(measure(piece, inUnit) <= limit);
          assert.doesNotMatch(piece, /\p{Surrogate}/u);
        }
      }),
      RUNS,
    );
  });

  test('no piece starts or ends inside a character, unless the character is longer than a message', () => {
    const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });
    const word = fc
      .array(fc.constantFrom('a', 'ä', '😀', 'e\u0301', '👨‍👩‍👧‍👦', '🇩🇪', ' '), { maxLength: 120 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(word, unit, fc.integer({ min: 60, max: 90 }), (raw, inUnit, limit) => {
        const starts = new Set([...characters.segment(raw)].map(({ index }) => index));
        let at = 0;
        for (const piece of splitText(raw, { limit, unit: inUnit, atoms: null })) {
          assert.ok(starts.has(at), `cut at ${at} of ${JSON.stringify(raw)}`);
          at += piece.length;
        }
      }),
      RUNS,
    );
  });

  test('an escaped entity stays whole', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[<>&ax ]{0,200}$/), (raw) => {
        const pieces = preparePieces(plan({ transforms: ['slack_entities'] }), raw);
        if (pieces.kind === 'refused') return;
        for (const piece of pieces.pieces)
          assert.doesNotMatch(piece.replace(/&(?:amp|lt|gt);/g, ''), /&|^(?:a?m?p|l?g?t);/);
      }),
      RUNS,
    );
  });

  test('numbered pieces are within the limit and show their number', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z ]{30,400}$/), (raw) => {
        const pieces = piecesOf(`x${raw}`, { numbered: true });
        if (pieces.length === 1) return;
        for (const [index, piece] of pieces.entries()) {
          assert.ok(piece.length <= 20);
          assert.ok(piece.endsWith(` (${index + 1}/${pieces.length})`));
        }
        assert.equal(pieces.map((piece) => piece.replace(/ \(\d+\/\d+\)$/, '')).join(''), `x${raw}`);
      }),
      RUNS,
    );
  });
});

describe('where a text breaks', () => {
  const CASES: readonly [string, string, readonly string[]][] = [
    ['a paragraph before a line', 'aaaa bbbb\n\ncc\ndddddddddd', ['aaaa bbbb\n\n', 'cc\ndddddddddd']],
    ['a line before a word', 'aaaa bbbb ccc\ndd eeeeeeee', ['aaaa bbbb ccc\n', 'dd eeeeeeee']],
    ['a paragraph too early is passed over', 'a\n\nbbbb cccc dddd eeee ff', ['a\n\nbbbb cccc dddd ', 'eeee ff']],
    [
      'a word that ends at the limit',
      `${'a'.repeat(9)} ${'b'.repeat(10)} cc`,
      [`${'a'.repeat(9)} ${'b'.repeat(10)}`, ' cc'],
    ],
    ['a long word', 'x'.repeat(45), ['x'.repeat(20), 'x'.repeat(20), 'x'.repeat(5)]],
    ['CR LF stays together', `${'a'.repeat(19)}\r\nbb`, [`${'a'.repeat(19)}`, '\r\nbb']],
    [
      'a mark stays with the blank it is on',
      `${'a'.repeat(15)} \u0301${'b'.repeat(10)}`,
      [`${'a'.repeat(15)} \u0301bbb`, 'b'.repeat(7)],
    ],
    ['one that fits', 'x'.repeat(20), ['x'.repeat(20)]],
  ];
  for (const [name, raw, expected] of CASES) {
    test(name, () => assert.deepEqual(piecesOf(raw), expected));
  }
});

test('100,000 characters of any kind are split in linear time', () => {
  for (const raw of [
    'x'.repeat(100_000),
    '🇩🇪'.repeat(25_000),
    'a b\n'.repeat(25_000),
    ' '.repeat(99_999).concat('x'),
  ]) {
    const before = process.cpuUsage();
    assert.equal(piecesOf(raw, { limit: 2048, unit: 'byte' }).join(''), raw);
    assert.ok(process.cpuUsage(before).user < 2_000_000);
  }
});

test('a text of blanks is empty', () => {
  for (const raw of ['', ' ', '\n\t\r\n', '\u00A0']) {
    assert.equal(preparePieces(plan(), raw).kind, 'refused');
  }
});

test('a text that is too long is shortened or rejected, as the target says', () => {
  assert.deepEqual(piecesOf('aaaa bbbb cccc dddd eeee', { overflow: 'truncate' }), ['aaaa bbbb cccc dddd…']);
  assert.equal(preparePieces(plan({ overflow: 'reject' }), 'x'.repeat(21)).kind, 'refused');
  assert.equal(preparePieces(plan({ max_pieces: 2 }), 'x'.repeat(41)).kind, 'refused');
  assert.equal(preparePieces(plan({ max_pieces: 2 }), 'x'.repeat(40)).kind, 'pieces');
});

test('each transform disables the markup of its service', () => {
  const CASES: readonly [TextPlan['transforms'][number], string, string][] = [
    ['slack_entities', '<!here> & <@U1>', '&lt;!here&gt; &amp; &lt;@U1&gt;'],
    ['zwsp_after_at', '@all a@b', '@\u200Ball a@\u200Bb'],
    [
      'zwsp_after_at',
      '&#64;all &#x40;here &commat;channel &amp; R&D',
      '&\u200B#64;all &\u200B#x40;here &\u200Bcommat;channel &amp; R&D',
    ],
    ['break_angle_at', '<at user_id="all"> <@u> <b', '<\u200Bat user_id="all"> <\u200B@u> <b'],
    ['break_angle', '<qqbot-at-everyone />', '<\u200Bqqbot-at-everyone />'],
    ['break_everyone', '@everyone @Here @bob', '@\u200Beveryone @\u200BHere @bob'],
    ['break_templates', '{{ a }} {% b %} {# c #} { d', '{\u200B{ a }} {\u200B% b %} {\u200B# c #} { d'],
    ['strip_controls', 'a\u0000b\u001bc\td\n', 'abc\td\n'],
  ];
  for (const [name, raw, expected] of CASES) assert.equal(transformText(raw, [name]), expected, name);
  assert.equal(transformText('a\ud800b', []), 'a\ufffdb');
});
