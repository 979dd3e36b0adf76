/** A toolset that does not exist. */

import type { KnownToolsets } from '../config/toolsets.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';

import type { ViewRule } from './support/view-rule.ts';

export const unknownToolset = {
  id: 'unknown-toolset',
  checkRoute(route): readonly Problem[] {
    if (route.mode !== 'agent') return [];
    return unknownToolsets(route.config.toolsets ?? [], ['toolsets'], route.scope.table.toolsets);
  },
  checkJob({ config, scope }): readonly Problem[] {
    return unknownToolsets(config.toolsets ?? [], ['toolsets'], scope.table.toolsets);
  },
  checkProfile({ config, scope }): readonly Problem[] {
    return Object.entries(config.platform_toolsets ?? {}).flatMap(([platform, names]) =>
      unknownToolsets(names, ['platform_toolsets', platform], scope.table.toolsets),
    );
  },
} as const satisfies ViewRule;

/** Also checks `platform_toolsets` and jobs. */
export function unknownToolsets(names: readonly string[], path: NodePath, known: KnownToolsets): readonly Problem[] {
  return names.flatMap((name, index): readonly Problem[] => {
    if (Object.hasOwn(known, name)) return [];
    const message = `there is no toolset \`${name}\`; it is dropped${didYouMean(name, Object.keys(known))}`;
    return [
      { rule: 'unknown-toolset', path: [...path, index], at: 'value', message, ...renameFix(name, Object.keys(known)) },
    ];
  });
}
