/** A source or signature scheme that does not exist. */
import { didYouMean, renameFix } from '../text/suggest.ts';
import { rule } from './support/rule.ts';

export const unknownSource = rule('unknown-source', {
  route(route, report) {
    const { source, auth = [] } = route.config;
    const { sources } = route.scope.table;
    const known = Object.keys(sources);
    const names = [
      ...(source === undefined ? [] : [{ name: source, path: ['source'] }]),
      ...auth.map((name, index) => ({ name, path: ['auth', index] })),
    ];
    for (const { name, path } of names) {
      if (Object.hasOwn(sources, name) || route.scope.invalidNames.has(`source:${name}`)) continue;
      const message = `there is no source \`${name}\`${didYouMean(name, known)}`;
      const hint = '`hookwright source list` shows them all';
      report({ path, at: 'value', message, hint, ...renameFix(name, known) });
    }
  },
});
