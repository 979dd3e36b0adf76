/** An `in_file` that cannot name a file. */
import type { Lowered, NodePath } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const filterFile = {
  id: 'filter-file',
  /** Returns an absolute path, `~/…`, or a normalised path relative to <home_dir>. */
  check(written: string, path: NodePath): Lowered<string> {
    const file = written.replace(/^<home_dir>\/+/, '');
    const why = reasonAgainst(file);
    if (why === null) return { plan: file.replace(/^(?:\.\/+)+/, ''), problems: [] };
    const message = `${JSON.stringify(written)}${why}`;
    return { plan: null, problems: [{ rule: 'filter-file', path, at: 'value', message }] };
  },
} as const satisfies ListedRule;

function reasonAgainst(file: string): string | null {
  if (file === '' || file.endsWith('/') || /[\0\n\r]/.test(file))
    return ' names no file; write a path relative to <home_dir>';
  if (file.startsWith('~') && !file.startsWith('~/'))
    return ': homes of other users are not expanded; write ~/… or an absolute path';
  return null;
}
