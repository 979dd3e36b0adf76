/**
 * Tests that a stranger's text in an alert or a message of `on_failure` is shown as text by every service: outside of code
 * blocks there is no link, emoji code, mention, reference, command or markup. The readers below are apart from the code:
 * a parser of GitHub's Markdown, and what the services document.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { inert } from '../../base/text.ts';
import { beginText, endText, summaryText } from '../../modules/guard/runtime/alerts.ts';
import { noticeText } from '../../modules/outputs/runtime/notice.ts';
import { isOneMessage, prepareText } from '../../runtime/deliver/prepare-text.ts';
import { failureMessage } from '../../runtime/dispatch/own-message.ts';
import type { Approval } from '../../schemas/built/operations/types.ts';
import type { TargetPlan } from '../../schemas/generated/types.ts';
import { makeDispatch } from '../helpers/dispatches.ts';
import { shippedTargets } from '../helpers/targets.ts';

/** What services read in a text, besides Markdown. */
const READERS: Readonly<Record<string, RegExp>> = {
  'a domain, also with the dots of other scripts': /[\p{L}\p{N}][.\u3002\uff0e\uff61]+\p{L}/u,
  'an IP address': /\d\.\d+\.\d|\[[\da-f:]*:/i,
  'a scheme': /(?<![p{L}\d])[a-z][a-z\d+.-]+:\S/i,
  'an emoji code': /:[\w+-]+:/,
  'an emoticon': /(?:^|\s)(?:[:;8=]['-]?[()[\]dpos/|$@x*]|x-d|<\/?3)(?:$|\s)|[:;]-?[()]/im,
  'a mention or an e-mail address': /[@\uff20]/,
  'a reference': /[#!~$%&^]\w|\bGH-\d|(?<!\w)[\da-f]{7,40}(?!\w)/i,
  'a command': /(?:^|\s)\/\w/m,
  'a telephone number or an account': /(?!\d{4}-\d\d-\d\d(?! ?\d{4}))(?<![\d-])\d(?:[ -]?\d){6}/,
  'emphasis of a chat': /[*`~|<>[\]\\]|(?<!\w)_|_(?!\w)/,
  'something invisible': /[\p{Default_Ignorable_Code_Point}\p{Cc}]/u,
};

/** The text of a stranger outside of blocks. */
const outside = (shown: string): string => shown.split(/^```\n[\s\S]*?\n```$/m).join('\n');

const asHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

function checkOwn(text: string): void {
  for (const [what, reads] of Object.entries(READERS)) assert.doesNotMatch(text, reads, what);
}

function check(text: string): void {
  const shown = inert(text);
  if (shown !== text) {
    assert.equal(outside(shown).trim(), '', 'all is in one block');
    return;
  }
  const html = micromark(text, { extensions: [gfm()], htmlExtensions: [gfmHtml()] });
  assert.equal(html, `<p>${asHtml(text)}</p>`);
  checkOwn(text);
}

const OF = { kind: 'run_failed', subject: 'route r' } as const;

const messagesOf = (text: string): readonly string[] => [
  beginText(OF, text),
  beginText({ ...OF, subject: text }, text),
  summaryText({ ...OF, subject: text, since: 0, last_at: 0, count: 1, reason: text }),
  endText({ ...OF, subject: text, since: 0, last_at: 0, count: 1, reason: text }, 0, text),
  ...['push', text].map((event) => {
    const on_failure = [{ target: 'x', extra: {}, unresolved: [] }];
    const failed = { ...makeDispatch('a', { delivery_id: text, event }), on_failure };
    return failureMessage(failed, text, { dispatch: () => 'b' }, 0).message?.prompt ?? assert.fail();
  }),
];

/** Each is found in no message outside of a block. */
const LIVE: readonly string[] = [
  ...[
    'evil.com/x',
    'see evil.com',
    'evil.com:',
    'WWW.evil.com',
    'ftp.evil',
    'evil.рф',
    'xn--e1a.xn--p1ai',
    'evil。com',
  ],
  ...['evil．com', 'evil｡com', 'evil\u200b.com', 'e\u2060vil.com', 'evil\u3164com', '127.0.0.1', '[::1]', '0x7f.1'],
  ...['mailto:x', 'tel:112', 'javascript:x', 'x:y', 'user@host', 'x+y@evil.com', '//evil', 'https://evil'],
  ...['a :bomb: b', 'a :+1: b', ':x:', 'a :) b', 'a ;-) b', 'x-d', 'a :D', 'a <3'],
  ...['fix #1', 'GH-26', 'a !1', 'octo/shop#1', '@name', 'a ~town', 'a $USD', 'deadbeefcafe', 'x@deadbee'],
  ...['<https://evil.com|bank>', '<@U1>', '<!channel>', '[a](b)', '[a]: b', '![](b)', 'a *b* c', 'a _b_', '_b_'],
  ...[
    '/merge',
    'a /start',
    '1. x',
    '1) x',
    '- x',
    '> x',
    'a | b',
    '4242 4242 4242 4242',
    '+4915112345678',
    '(0800) 123 456',
    '0800/123456',
    '030/12/34/56',
    'a 8) b',
    'a 8D b',
    'an xD',
    'a (y) b',
    'a (tm) b',
    '555-1234567',
    '4242-42-42-42',
  ],
  ...[
    '(0800) 123 456',
    'a (0800) 123 456',
    'a 0800/123456',
    'a 030/12/34/56',
    '+49-30-1234',
    'a 0800, 123 456',
    'a 030.1234',
  ],
  ...['a 8) b', 'a B) b', 'a 8D', 'a (y)', 'a (c)', 'a (beer) b', ':)', 'a xD', 'a XP b', 'a o_O', 'a o_0', 'a D: b'],
  ...['hookwright approvals approve a', 'a  \nb', 'a\nb', 'a\u2028b', '---', '&#64;x', 'a &amp; b', 'a\\b', '😀 a'],
];

describe('outside of a block there is nothing of', () => {
  for (const text of LIVE)
    test(JSON.stringify(text), () => {
      assert.notEqual(inert(text), text);
      check(text);
      // A number is one of a list only at the start of its line.
      const own = messagesOf(text).map((shown) =>
        outside(shown).replaceAll(`push, ${text}: `, /^1\D x/.test(text) ? '' : '$&'),
      );
      for (const shown of own) assert.ok(!shown.includes(text), shown);
    });
});

test('words stay words', () => {
  const texts = [
    ...['the token is not valid any more', 'HTTP 500: no such chat (a=1)', 'run failed: sh exited with 1: no answer'],
    ...[
      "it doesn't have 'x'; and/or a time-out of 2.5 s, 50% of r_1",
      'route deploy (profile ops)',
      '12 times',
      'Größe',
    ],
  ];
  for (const text of texts) assert.equal(inert(text), text);
});

const WORDS = fc.constantFrom(
  ...[
    'a',
    'evil',
    'com',
    'www',
    'x',
    'D',
    'GH',
    'é',
    'ж',
    '中',
    '1',
    '26',
    '4242',
    'https',
    'hookwright',
    'deadbeef',
    '',
  ],
);
const JOINTS = fc.constantFrom(
  ...[
    ' ',
    ' ',
    ' ',
    '.',
    ':',
    '/',
    '@',
    '#',
    '-',
    '_',
    '*',
    '(',
    ')',
    "'",
    '"',
    '=',
    '+',
    '?',
    '%',
    ',',
    ';',
    '!',
    '&',
    '<',
  ],
  ...[
    '~',
    '|',
    '`',
    '$',
    '[',
    '\\',
    '\n',
    '\t',
    '。',
    '．',
    '＠',
    '\u200b',
    '\u2060',
    '\u3164',
    '😀',
    'ː',
    ' (',
    ': ',
    '. ',
  ],
);

test('any text is words without a meaning, or in a block', () => {
  const text = fc.array(fc.tuple(WORDS, JOINTS), { minLength: 1, maxLength: 4 }).map((pairs) => pairs.flat().join(''));
  const whole = fc.tuple(text, WORDS).map((parts) => parts.join(''));
  const numRuns = process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 300_000 : 5000;
  fc.assert(fc.property(whole, check), { numRuns });
});

const PARTS = ['a', 'a ', 'é', '漢', '😀', '\u202e', '```', 'evil.com ', ...'<>&@*_`\\{"|'];

test('a long text is cut within its block, so that no second message begins with it', async () => {
  const texts = PARTS.flatMap((part) => [part.repeat(500), `${part.repeat(400)}.`, part.repeat(3000)]);
  const messages = texts.flatMap((text) => [...messagesOf(text), beginText({ ...OF, subject: text }, 'why')]);
  const targets = Object.values(shippedTargets()).flatMap(({ variants }) => variants.map(({ text }) => text));
  const roomy = targets.filter(({ limit }) => limit === null || limit >= 1600);
  assert.ok(roomy.length > 10);
  const kinds = new Map(roomy.map((plan) => [JSON.stringify(plan), plan]));
  for (const plan of kinds.values()) {
    for (const message of messages) {
      const sent = await prepareText(plan, message);
      assert.equal(sent.kind === 'pieces' && sent.pieces.length, 1, `${JSON.stringify(plan)} ${message}`);
    }
  }
});

test('a request for approval, and the message that shows its answer, are one message of every target, however long', async () => {
  const answer = { by: 'console:eve', at: 0, reason: 'é<&'.repeat(166), takes_effect_at: 0 };
  const approvals = ['漢', '<'].flatMap((part): Approval[] => {
    const text = part.repeat(2000);
    const all = { ...APPROVAL, text, address: { chat_id: text.slice(0, 1000) }, content: { title: text } };
    return [all, { ...all, state: 'rejected', answer }];
  });
  const targets = Object.values(shippedTargets()).flatMap((target) =>
    target.variants.map((variant): TargetPlan => ({ ...target, variants: [variant] })),
  );
  for (const target of new Map(targets.map((one) => [JSON.stringify(one.variants[0]?.text), one])).values()) {
    const plan = target.variants[0]?.text ?? assert.fail();
    if (plan.limit !== null && plan.limit < 1600) continue;
    for (const approval of approvals) {
      const sent = await prepareText(
        plan,
        noticeText(approval, 'https://hooks.example', (text) => isOneMessage(target, text)),
      );
      assert.equal(sent.kind === 'pieces' && sent.pieces.length, 1, `${target.name} ${JSON.stringify(plan)}`);
    }
  }
});

const APPROVAL: Approval = {
  id: `0mb3k9x2c00a7f01c3b9d2e4-0-${'0'.repeat(32)}`,
  state: 'waiting',
  profile: 'default',
  route: 'news',
  job: null,
  event: 'push',
  target: 'telegram',
  url: null,
  output: 'page',
  address: {},
  text: '',
  content: {},
  since: 0,
  expires_at: 1,
  answer: null,
};
