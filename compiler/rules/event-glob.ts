/** An event glob that cannot be read, or would take too long. */
import type { Lowered, NodePath } from '../diagnostics/problem.ts';
import { globSource } from '../globs/linear-glob.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const eventGlob = {
  id: 'event-glob',
  group: 'templates',
  severity: 'error',
  title:
    'An entry of `events` is a glob whose brackets do not pair, or that cannot be matched in linear time, or only with much work.',
  why: 'With brackets that do not pair it would match nothing, and every event would be answered `ignored`. The text that a glob is tried on comes from the sender: an expression that tries every way to divide it would keep the server busy for as long as he likes. `**`, `!(…)` and a leading `!` are such; `*`, `?`, `[…]` and `{a,b}` are not, up to 16 of them in an entry.',
  /** The glob as an expression of linear time. */
  check(glob: string, path: NodePath): Lowered<string> {
    const source = globSource(glob);
    if (typeof source === 'string') return { plan: source, problems: [] };
    const message = `${JSON.stringify(glob)} is no glob that can be used here: ${source.message}`;
    return { plan: null, problems: [{ rule: eventGlob, path, at: 'value', message }] };
  },
} as const satisfies ListedRule;
