/** Links a single target of a profile, so that a message can be sent although other parts are invalid. */
import { labelIn } from '../../../../base/label.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { findTarget } from '../../../../cli/base/find-name.ts';
import type { DeliveryContext } from '../../../../runtime/deliver/driver.ts';
import type { LinkedTargets } from '../../../../runtime/deliver/link-targets.ts';
import { linkTargets, loadDrivers } from '../../../../runtime/deliver/link-targets.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';

export interface TargetChoice {
  readonly table: RouteTable;
  /** Any of the target's names. */
  readonly target: string;
  readonly profile: string;
}

/** The target's own name. @throws CliError when there is no such target or profile, or it is switched off. */
export function chooseTarget({ table, target, profile }: TargetChoice): string {
  const name = findTarget(table.target_names, target);
  const plan = Object.hasOwn(table.profiles, profile) ? table.profiles[profile] : undefined;
  if (plan === undefined) throw new CliError(`there is no profile "${profile}"`);
  if (!Object.hasOwn(plan.targets, name)) {
    const setUp = labelIn(table.targets, table.targets[name]?.platform ?? name);
    const where = profile === 'default' ? '' : ` in the config of the profile ${profile}`;
    throw new CliError(
      `${target} is not enabled`,
      `set platforms.${setUp}.enabled: true${where}, with its credentials`,
    );
  }
  return name;
}

/** @throws CliError naming the setting at fault. */
export async function linkOne(
  choice: TargetChoice,
  secrets: SecretResolver,
  context: DeliveryContext,
): Promise<LinkedTargets> {
  const name = chooseTarget(choice);
  const { targets, profiles } = choice.table;
  const plan = targets[name];
  const profile = profiles[choice.profile];
  if (plan === undefined || profile === undefined) throw new Error(`the table names ${name} and does not hold it`);
  const tables = { targets: { [name]: plan }, profiles: { [choice.profile]: profile } };
  const { linked, problems } = linkTargets(tables, secrets, context, await loadDrivers(tables, context));
  const [problem] = problems;
  if (problem !== undefined) throw new CliError(`${choice.target}: ${problem.message}`);
  return linked;
}
