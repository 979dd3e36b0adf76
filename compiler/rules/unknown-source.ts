/** A source or signature scheme that does not exist. */
import type { Problem } from '../diagnostics/problem.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unknownSource = {
  id: 'unknown-source',
  checkRoute(route): readonly Problem[] {
    const { source, auth = [] } = route.config;
    const known = route.scope.table.sources;
    const names = [
      ...(source === undefined ? [] : [{ name: source, path: ['source'] }]),
      ...auth.map((name, index) => ({ name, path: ['auth', index] })),
    ];
    return names
      .filter(({ name }) => !Object.hasOwn(known, name) && !route.scope.invalidNames.has(`source:${name}`))
      .map(({ name, path }): Problem => {
        const message = `there is no source \`${name}\`${didYouMean(name, Object.keys(known))}`;
        const hint = '`hookwright source list` shows them all';
        return { rule: 'unknown-source', path, at: 'value', message, hint, ...renameFix(name, Object.keys(known)) };
      });
  },
} as const satisfies ViewRule;
