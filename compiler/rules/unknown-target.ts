/** A target that does not exist (§4.4). */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import type { DeliveryConfig } from '../config/deliveries.ts';
import { JOB_DELIVERIES, targetNamed, writtenTargets } from '../config/deliveries.ts';
import { targetEntries } from '../config/target-entries.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';
import type { Reporter, RouteScope } from '../views/views.ts';
import { onFailure, toOperators } from './support/receivers.ts';
import { rule } from './support/rule.ts';
import { targetWithAddress } from './support/target-with-address.ts';
import { deliverPath } from './support/targets.ts';

export const unknownTarget = rule('unknown-target', {
  route(route, report) {
    checkTargets(route.config, route.scope, [], report);
    for (const to of onFailure(route, report)) checkTargets(to.config, to.scope, [], to.report);
  },
  job(job, report) {
    checkTargets(job.config, job.scope, JOB_DELIVERIES, report);
    for (const to of onFailure(job, report)) checkTargets(to.config, to.scope, [], to.report);
  },
  config(view, report) {
    for (const to of toOperators(view, report)) checkTargets(to.config, to.scope, [], to.report);
  },
  profile({ name: profile, config, scope }, report) {
    const names = scope.table.target_names;
    const known = [...Object.keys(names), ...(profile === DEFAULT_PROFILE ? ['webhook'] : [])];
    for (const [name] of targetEntries(config)) {
      if (targetNamed(names, name) !== null || scope.invalidNames.has(`target:${name}`)) continue;
      const message =
        name === 'webhook'
          ? '`webhook` is not a target: one webhook server serves all profiles, and it is configured in the root config'
          : `there is no delivery target \`${name}\`${didYouMean(name, known)}`;
      report({ path: ['platforms', name], at: 'key', message, ...renameFix(name, known) });
    }
  },
});

const URL_HINT = 'a URL is not a target: name one (`slack`, `telegram`, …), and set it up under `platforms`';

/** @param further names that are also allowed but are not targets (`origin`) */
function checkTargets(
  config: DeliveryConfig,
  scope: Pick<RouteScope, 'table' | 'invalidNames'>,
  further: readonly string[],
  report: Reporter,
): void {
  const names = scope.table.target_names;
  const known = [...Object.keys(names), ...further];
  for (const written of writtenTargets(config.deliver)) {
    const { name, index } = written;
    if (targetNamed(names, name) !== null || further.includes(name) || scope.invalidNames.has(`target:${name}`))
      continue;
    const at = { path: deliverPath(index), at: 'value' } as const;
    const addressed = targetWithAddress(written, config, scope.table);
    if (addressed !== null) {
      report({ ...at, ...addressed });
      continue;
    }
    const message = `there is no delivery target \`${name}\`${didYouMean(name, known)}`;
    const isUrl = /^https?:\/\//.test(name) ? { hint: URL_HINT, sensitive: true } : {};
    report({ ...at, message, ...isUrl, ...renameFix(name, known) });
  }
}
