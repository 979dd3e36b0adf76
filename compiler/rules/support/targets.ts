/** What the rules about `deliver` share, for routes and for jobs. */
import type { ProfilePlan, TargetPlan } from '../../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../../diagnostics/problem.ts';
import type { DeliveryConfig, ExtraValue, WrittenTarget } from '../../lower/delivery.ts';
import { extraOf, targetNamed, writtenTargets } from '../../lower/delivery.ts';
import type { TableContent } from '../../lower/table-content.ts';
import type { RouteScope, RouteTarget } from '../../routes/route-scope.ts';
import { didYouMean, renameFix } from '../../text/suggest.ts';

/** Targets that keep the text and send it to no one. */
export const KEEPING_TARGETS: ReadonlySet<string> = new Set(['log', 'local']);

/** `deliver` itself, or one item of its list. */
export const targetPath = (index: number | null): NodePath => (index === null ? ['deliver'] : ['deliver', index]);

/** @param deliver as written. @param further names that are allowed here and are no targets (`origin`). */
export function unknownTargets(
  deliver: string | readonly string[] | undefined,
  scope: Pick<RouteScope, 'table' | 'unsure'>,
  further: readonly string[] = [],
): readonly Problem[] {
  const names = scope.table.target_names;
  const isUnknown = ({ name }: WrittenTarget): boolean =>
    targetNamed(names, name) === null && !further.includes(name) && !scope.unsure.has(`target:${name}`);
  return writtenTargets(deliver)
    .filter(isUnknown)
    .map(({ name, index }) => ({
      rule: 'unknown-target',
      path: targetPath(index),
      at: 'value',
      message: `there is no delivery target \`${name}\`${didYouMean(name, [...Object.keys(names), ...further])}`,
      ...(/^https?:\/\//.test(name) ? { hint: URL_HINT, sensitive: true } : {}),
      ...renameFix(name, [...Object.keys(names), ...further]),
    }));
}

const URL_HINT = 'a URL is no target: name one (`slack`, `telegram`, …), and set it up under `platforms`';

export function targetsNotEnabled(
  targets: readonly RouteTarget[],
  profile: ProfilePlan,
  scope: Pick<RouteScope, 'table' | 'unsure'>,
): readonly Problem[] {
  const isOff = ({ target }: RouteTarget): boolean => {
    if (target === null) return false;
    return !Object.hasOwn(profile.targets, target) && !scope.unsure.has(`target:${target}`);
  };
  const where = profile.home === '' ? '' : ` of the profile \`${profile.name}\``;
  return targets.filter(isOff).map(({ name, index }) => ({
    rule: 'target-not-enabled',
    path: targetPath(index),
    at: 'value',
    message: `the target \`${name}\` is not enabled: every delivery to it fails`,
    hint: `set \`platforms.${name}.enabled: true\` in the config${where}, with its credentials`,
  }));
}

/** A target of a route or job that exists, with what `deliver_extra` says to it. */
export interface DeliveryTarget extends WrittenTarget {
  readonly plan: TargetPlan;
  readonly extra: ReadonlyMap<string, ExtraValue>;
}

export function deliveryTargets(config: DeliveryConfig, table: TableContent): readonly DeliveryTarget[] {
  return writtenTargets(config.deliver).flatMap((written): readonly DeliveryTarget[] => {
    const target = targetNamed(table.target_names, written.name);
    const plan = target === null ? undefined : table.targets[target];
    if (plan === undefined) return [];
    return [{ ...written, plan, extra: extraOf(config.deliver_extra ?? {}, plan, table.target_names) }];
  });
}
