/** A toolset that does not exist. */

import { writtenAgents } from '../config/agents.ts';
import type { KnownToolsets } from '../config/toolsets.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';

import type { Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const unknownToolset = rule('unknown-toolset', {
  route(route, report) {
    if (route.mode === 'agent') checkNames(route.config.toolsets, ['toolsets'], route.scope.table.toolsets, report);
  },
  job({ config, scope }, report) {
    checkNames(config.toolsets, ['toolsets'], scope.table.toolsets, report);
  },
  profile({ config, scope }, report) {
    for (const [platform, names] of Object.entries(config.platform_toolsets ?? {})) {
      checkNames(names, ['platform_toolsets', platform], scope.table.toolsets, report);
    }
    for (const { path, config: agent } of writtenAgents(config)) {
      checkNames(agent.toolsets, [...path, 'toolsets'], scope.table.toolsets, report);
    }
  },
});

function checkNames(names: readonly string[] = [], path: NodePath, toolsets: KnownToolsets, report: Reporter): void {
  const known = Object.keys(toolsets);
  for (const [index, name] of names.entries()) {
    if (Object.hasOwn(toolsets, name)) continue;
    const message = `there is no toolset \`${name}\`; it is dropped${didYouMean(name, known)}`;
    report({ path: [...path, index], at: 'value', message, ...renameFix(name, known) });
  }
}
