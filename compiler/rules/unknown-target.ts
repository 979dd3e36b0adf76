/** A target that does not exist (§4.4). */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import type { DeliveryConfig, WrittenTarget } from '../config/deliveries.ts';
import { JOB_DELIVERIES, targetNamed, writtenTargets } from '../config/deliveries.ts';
import { targetEntries } from '../config/target-entries.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';
import type { RouteScope } from '../views/route-scope.ts';
import { targetWithAddress } from './support/target-with-address.ts';
import { deliverPath } from './support/targets.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unknownTarget = {
  id: 'unknown-target',
  checkRoute(route): readonly Problem[] {
    return unknownTargets(route.config, route.scope);
  },
  checkJob(job): readonly Problem[] {
    return unknownTargets(job.config, job.scope, JOB_DELIVERIES);
  },
  checkProfile({ name: profile, config, scope }): readonly Problem[] {
    const names = scope.table.target_names;
    const known = [...Object.keys(names), ...(profile === DEFAULT_PROFILE ? ['webhook'] : [])];
    return targetEntries(config)
      .filter(([name]) => targetNamed(names, name) === null)
      .map(
        ([name]): Problem => ({
          rule: 'unknown-target',
          path: ['platforms', name],
          at: 'key',
          message:
            name === 'webhook'
              ? '`webhook` is not a target: one webhook server serves all profiles, and it is configured in the root config'
              : `there is no delivery target \`${name}\`${didYouMean(name, known)}`,
          ...renameFix(name, known),
        }),
      );
  },
} as const satisfies ViewRule;

/** @param further names that are also allowed but are not targets (`origin`) */
function unknownTargets(
  config: DeliveryConfig,
  scope: Pick<RouteScope, 'table' | 'invalidNames'>,
  further: readonly string[] = [],
): readonly Problem[] {
  const names = scope.table.target_names;
  const isUnknown = ({ name }: WrittenTarget): boolean =>
    targetNamed(names, name) === null && !further.includes(name) && !scope.invalidNames.has(`target:${name}`);
  return writtenTargets(config.deliver)
    .filter(isUnknown)
    .map((written) => {
      const { name, index } = written;
      const at = { rule: 'unknown-target', path: deliverPath(index), at: 'value' } as const;
      const addressed = targetWithAddress(written, config, scope.table);
      if (addressed !== null) return { ...at, ...addressed };
      return {
        ...at,
        message: `there is no delivery target \`${name}\`${didYouMean(name, [...Object.keys(names), ...further])}`,
        ...(/^https?:\/\//.test(name) ? { hint: URL_HINT, sensitive: true } : {}),
        ...renameFix(name, [...Object.keys(names), ...further]),
      };
    });
}

const URL_HINT = 'a URL is not a target: name one (`slack`, `telegram`, …), and set it up under `platforms`';
