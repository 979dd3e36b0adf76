/** A toolset that is forbidden for webhook runs (§2.1). */

import type { KnownToolsets } from '../config/toolsets.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const barredToolset = {
  id: 'barred-toolset',
  checkRoute(route): readonly Problem[] {
    if (route.mode !== 'agent') return [];
    return barredToolsets(route.config.toolsets ?? [], ['toolsets'], route.scope.table.toolsets);
  },
  checkProfile({ config, scope }): readonly Problem[] {
    return barredToolsets(
      config.platform_toolsets?.webhook ?? [],
      ['platform_toolsets', 'webhook'],
      scope.table.toolsets,
    );
  },
} as const satisfies ViewRule;

/** Also checks `platform_toolsets.webhook`. */
export function barredToolsets(names: readonly string[], path: NodePath, known: KnownToolsets): readonly Problem[] {
  return names.flatMap((name, index): readonly Problem[] => {
    if (!Object.hasOwn(known, name) || known[name] === true) return [];
    const message = `the toolset \`${name}\` is barred from webhook runs; it is dropped`;
    return [{ rule: 'barred-toolset', path: [...path, index], at: 'value', message }];
  });
}
