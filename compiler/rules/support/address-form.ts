/** Whether an address can have the form that its target takes; placeholders may become any text. */

import type { TargetBinding, TargetPlan } from '../../../schemas/generated/types.ts';
import { PLACEHOLDER } from '../../config/template-grammar.ts';
import { linearRegex } from '../../text/linear-regex.ts';

/**
 * Returns the form that the value lacks, as an RE2 pattern; null if the value may be right. Each variant is considered, unless
 * the binding names one.
 * @param name a key of the target's address, such as `chat_id` or `thread`
 */
export function missedForm(
  plan: TargetPlan,
  binding: TargetBinding | undefined,
  name: string,
  value: string,
): string | null {
  const variants = plan.variants.filter((variant) => binding === undefined || variant.name === binding.variant);
  const forms = (variants.length === 0 ? [plan] : variants).map(
    ({ address }) => address.find((field) => field.name === name)?.pattern ?? null,
  );
  if (value === '' || forms.some((form) => form === null || mayMatch(form, value))) return null;
  return forms[0] ?? null;
}

/** Texts of every usual kind. A placeholder that none of them makes right has a wrong text beside it. */
const PARTS: readonly string[] = [
  ...[
    '',
    '1',
    '42',
    '-1',
    '1.2',
    '.2',
    'a',
    'A',
    'aB3',
    '_a',
    '-a',
    '.a',
    '/a',
    ':a',
    '@a',
    '#a',
    '!a',
    '$a',
    '+1',
    '=',
  ],
  ...['a.b', 'a/b', 'a:b', 'a-b', 'a_b', 'a@b.c', '@b.c', 'a@', '@abcd', '!a:b.c', '<a@b.c>', 'a@b.c>', '<a@b'],
];
/** Addresses of which a placeholder may become the beginning or the end. */
const WHOLE: readonly string[] = [
  ...[
    'group.YWJj',
    'group:YWJj',
    'wamid.YWJj',
    'iMessage;-;+15550100',
    'SMS;+;chat1',
    'channel:A1',
    'user:A1',
    'dms:A1',
  ],
  ...[
    'party:1|tag:2',
    'whatsapp:+15550100',
    '12-34@g.us',
    'u:ada.01',
    'oc_a1',
    'ou_a1',
    'on_a1',
    'om_a1',
    'ops@mail.example.org',
  ],
];
const ENDS: readonly string[] = WHOLE.flatMap((text) =>
  Array.from(text, (_, at) => [text.slice(0, at + 1), text.slice(at)]).flat(),
);

function mayMatch(form: string, value: string): boolean {
  const texts = value.split(PLACEHOLDER).filter((_, index) => index % 2 === 0);
  // Other rules report braces that are no placeholder.
  if (texts.some((text) => /[{}]/.test(text))) return true;
  if (texts.length === 1) return linearRegex(form).matches(value);
  // With more of them, hardly anything can be ruled out.
  if (texts.length > 3 || texts.every((text) => text === '')) return true;
  // Of how many characters a placeholder becomes is unknown.
  const loose = form.replace(/\{\d+(?:,\d*)?\}/g, '*');
  const [first = '', second = '', third = ''] = texts;
  if (texts.length === 2) return [...PARTS, ...ENDS].some((part) => linearRegex(loose).matches(first + part + second));
  return PARTS.some((part) => PARTS.some((end) => linearRegex(loose).matches(first + part + second + end + third)));
}
