/** Open work of the running gateway that a new table has no route or target for: a reload would postpone it. */
import { labelIn } from '../../../../base/label.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { visible } from '../../../../cli/output/print.ts';
import { formatDuration } from '../../../../cli/output/time.ts';
import { useStore } from '../../../../cli/store/use-store.ts';
import { bindingOf } from '../../../../runtime/deliver/bind-target.ts';
import { nominalWait } from '../../../../runtime/dispatch/backoff.ts';
import type { OpenWork } from '../../../../runtime/store/queries.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';

export interface StrandedWork {
  readonly profile: string;
  /** Its usual name; null: the whole profile is gone. */
  readonly target: string | null;
  /** Number of runs and deliveries that are waiting or in progress. */
  readonly count: number;
  /** The same, by origin. */
  readonly of: readonly Pick<OpenWork, 'route' | 'job' | 'count'>[];
}

/** @throws CliError when the store cannot be read */
export async function findStrandedWork(context: CliContext, table: RouteTable): Promise<readonly StrandedWork[]> {
  const open = await useStore(context, (store) => store.read({ kind: 'open_work' }));
  return strandedWork(open ?? [], table);
}

function strandedWork(open: readonly OpenWork[], table: RouteTable): readonly StrandedWork[] {
  const found = new Map<string, StrandedWork>();
  for (const { profile, target, route, job, count } of open) {
    const missing = missingPart(table, profile, target);
    if (missing === null) continue;
    const name = JSON.stringify([profile, missing.target]);
    const { count: before, of } = found.get(name) ?? { count: 0, of: [] };
    found.set(name, { profile, ...missing, count: before + count, of: [...of, { route, job, count }] });
  }
  return [...found.values()];
}

/** What the table lacks for it; null: nothing. */
function missingPart(
  { profiles, targets }: RouteTable,
  profile: string,
  target: string | null,
): Pick<StrandedWork, 'target'> | null {
  const plan = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
  if (plan === undefined) return { target: null };
  if (target === null) return null;
  const known = Object.hasOwn(targets, target) ? targets[target] : undefined;
  return known !== undefined && bindingOf(plan, known) !== null ? null : { target: labelIn(targets, target) };
}

export function formatStrandedWork(stranded: readonly StrandedWork[], { gateway }: RouteTable): string[] {
  const waits = Array.from({ length: gateway.max_attempts - 1 }, (_, made) => nominalWait(made + 1));
  const grace = formatDuration(waits.reduce((sum, wait) => sum + wait, 0));
  return stranded.map(({ profile, target, count, of }) => {
    const what = target === null ? `profile ${profile}` : `target ${target} of profile ${profile}`;
    const sources = of.map(
      (each) => `${each.count} of ${each.job === null ? 'route' : 'job'} ${each.job ?? each.route}`,
    );
    const needs = count === 1 ? 'run or delivery needs' : 'runs and deliveries need';
    return visible(`${count} open ${needs} ${what} (${sources.join(', ')}): tried again for ${grace}, then given up`);
  });
}
