/** An event glob that cannot be read, or would take too long. */
import type { Rule } from '../diagnostics/rule.ts';

export const eventGlob = {
  id: 'event-glob',
  severity: 'error',
  title:
    'An entry of `events` is a glob whose brackets do not pair, or that cannot be matched in linear time, or only with much work.',
  why: 'With brackets that do not pair it would match nothing, and every event would be answered `ignored`. The text that a glob is tried on comes from the sender: an expression that tries every way to divide it would keep the server busy for as long as he likes. `**`, `!(…)` and a leading `!` are such; `*`, `?`, `[…]` and `{a,b}` are not, up to 16 of them in an entry.',
} as const satisfies Rule;
