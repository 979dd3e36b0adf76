/** An event glob that is invalid or too expensive. */
import type { Lowered, NodePath } from '../diagnostics/problem.ts';
import { globSource } from '../globs/linear-glob.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const eventGlob = {
  id: 'event-glob',
  group: 'templates',
  severity: 'error',
  title:
    'An entry of `events` is a glob with unbalanced brackets, or one that cannot be matched in linear time or is too expensive.',
  why: 'A glob with unbalanced brackets would match nothing, and every event would be answered `ignored`. Globs are matched against text from the sender, so one that needs backtracking would let the sender keep the server busy. `**`, `!(…)` and a leading `!` are not allowed; `*`, `?`, `[…]` and `{a,b}` are, up to 16 of them in an entry.',
  /** Returns the glob as a linear-time expression. */
  check(glob: string, path: NodePath): Lowered<string> {
    const source = globSource(glob);
    if (typeof source === 'string') return { plan: source, problems: [] };
    const message = `${JSON.stringify(glob)} is not a supported glob: ${source.message}`;
    return { plan: null, problems: [{ rule: eventGlob, path, at: 'value', message }] };
  },
} as const satisfies ListedRule;
