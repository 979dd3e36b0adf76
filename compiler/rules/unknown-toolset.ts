/** A toolset that does not exist. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { KnownToolsets } from '../lower/toolsets.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';
import type { Rule } from './support/rule.ts';

export const unknownToolset: Rule = {
  id: 'unknown-toolset',
  severity: 'warning',
  title: 'A list of toolsets names one that is not in the catalog.',
  why: 'The name is dropped: the agent runs without the tools its author expects.',
  checkRoute(route) {
    if (route.mode !== 'agent') return [];
    return unknownToolsets(route.config.toolsets ?? [], ['toolsets'], route.scope.table.toolsets);
  },
  checkJob({ config, scope }) {
    return unknownToolsets(config.toolsets ?? [], ['toolsets'], scope.table.toolsets);
  },
  checkProfile({ config, scope }) {
    return Object.entries(config.platform_toolsets ?? {}).flatMap(([platform, names]) =>
      unknownToolsets(names, ['platform_toolsets', platform], scope.table.toolsets),
    );
  },
};

/** Also for `platform_toolsets` and jobs. */
export function unknownToolsets(names: readonly string[], path: NodePath, known: KnownToolsets): readonly Problem[] {
  return names.flatMap((name, index): readonly Problem[] => {
    if (Object.hasOwn(known, name)) return [];
    const message = `there is no toolset \`${name}\`; it is dropped${didYouMean(name, Object.keys(known))}`;
    return [
      { rule: 'unknown-toolset', path: [...path, index], at: 'value', message, ...renameFix(name, Object.keys(known)) },
    ];
  });
}
