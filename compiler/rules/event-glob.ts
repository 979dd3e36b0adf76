/** An event glob that is invalid or too expensive. */
import type { Lowered, NodePath } from '../diagnostics/problem.ts';
import { globSource } from '../globs/linear-glob.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const eventGlob = {
  id: 'event-glob',
  /** Returns the glob as a linear-time expression. */
  check(glob: string, path: NodePath): Lowered<string> {
    const source = globSource(glob);
    if (typeof source === 'string') return { plan: source, problems: [] };
    const message = `${JSON.stringify(glob)} is not a supported glob: ${source.message}`;
    return { plan: null, problems: [{ rule: 'event-glob', path, at: 'value', message }] };
  },
} as const satisfies ListedRule;
