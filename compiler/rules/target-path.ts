/** An invalid path. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetPath = {
  id: 'target-path',
  check(text: string, path: NodePath): readonly Problem[] {
    const at = { rule: 'target-path', path, at: 'value' } as const;
    const outside = text.replace(/\{[^}]*\}/g, '');
    return [
      ...(text === '' || text.startsWith('/') ? [] : [{ ...at, message: 'a path starts with /' }]),
      ...(/[?#\s]/.test(outside)
        ? [{ ...at, message: 'a path has no ?, # or blank: parameters belong in `query`' }]
        : []),
    ];
  },
} as const satisfies ListedRule;
