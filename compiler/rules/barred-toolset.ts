/** A toolset that is forbidden for webhook runs (§2.1). */

import type { KnownToolsets } from '../config/toolsets.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import type { Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const barredToolset = rule('barred-toolset', {
  route(route, report) {
    if (route.mode !== 'agent') return;
    checkNames(route.config.toolsets, ['toolsets'], route.scope.table.toolsets, report);
  },
  profile({ config, scope }, report) {
    checkNames(config.platform_toolsets?.webhook, ['platform_toolsets', 'webhook'], scope.table.toolsets, report);
  },
});

function checkNames(names: readonly string[] = [], path: NodePath, known: KnownToolsets, report: Reporter): void {
  for (const [index, name] of names.entries()) {
    if (!Object.hasOwn(known, name) || known[name] === true) continue;
    const message = `the toolset \`${name}\` is barred from webhook runs; it is dropped`;
    report({ path: [...path, index], at: 'value', message });
  }
}
