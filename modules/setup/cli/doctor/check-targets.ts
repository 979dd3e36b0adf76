/** Checks each enabled target of each profile: its credentials, its driver, and the clock against the service's answers. */
import { entryLabel } from '../../../../base/text.ts';
import type { Check } from '../../../../cli/base/check.ts';
import { gatewayCheck } from '../../../../cli/base/check.ts';
import type { DeliveryContext, ProbeOptions } from '../../../../runtime/deliver/deliverer.ts';
import { isUsed, linkTargets, loadDrivers } from '../../../../runtime/deliver/link-targets.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';

export interface TargetChecks {
  readonly checks: readonly Check[];
  /** Differences between other clocks and this one, in ms. */
  readonly skews: readonly number[];
}

/** A target; `subject` is its display name. */
interface Subject extends Pick<Check, 'subject'> {
  readonly profile: string;
  readonly target: string;
}

/** Targets without settings, which need no check. */
const QUIET = new Set(['log', 'local']);

export async function checkTargets(
  table: RouteTable,
  secrets: SecretResolver,
  { context, options }: { readonly context: DeliveryContext; readonly options: ProbeOptions },
): Promise<TargetChecks> {
  const drivers = await loadDrivers(table, context);
  const { linked, problems } = linkTargets(table, secrets, context, drivers);
  const checks: Check[] = [];
  const skews: number[] = [];
  for (const { target, ...about } of subjects(table)) {
    const { profile } = about;
    const problem = problems.find((one) => one.profile === profile && one.target === target);
    const found = linked.get(profile)?.get(target);
    if (found === undefined) {
      checks.push(refused(about, problem?.message ?? 'not linked'));
      continue;
    }
    checks.push({ ...about, check: 'credentials', status: 'ok', detail: 'all set', fix: null });
    for (const { server_time, ...probe } of await found.driver.probe(options)) {
      checks.push({ ...about, ...probe });
      if (server_time !== null) skews.push(context.clock.now() - server_time);
    }
  }
  return { checks, skews };
}

/** The enabled targets; a target that needs no entry only if a route or job delivers to it. */
function subjects(table: RouteTable): readonly Subject[] {
  return Object.values(table.profiles).flatMap((profile) =>
    Object.keys(profile.targets)
      .filter((target) => !QUIET.has(target))
      // One entry configures several targets of a service, with the same access.
      .filter((target) => !Object.hasOwn(profile.targets, table.targets[target]?.platform ?? ''))
      .filter((target) => table.targets[target]?.driver !== 'github_comment' || isUsed(table, profile.name, target))
      .map((target) => ({ profile: profile.name, target, subject: entryLabel(profile, target) })),
  );
}

function refused(about: Omit<Subject, 'target'>, message: string): Check {
  const reference = /env:(\w+)/.exec(message)?.[1];
  // The message names the files that were searched.
  const fix = reference === undefined ? 'correct its settings under `platforms`' : `set ${reference}`;
  return { ...about, check: 'credentials', status: 'failed', detail: message, fix };
}

/** Warns if all alerts depend on one target. */
export function checkAlerts({ gateway: { alerts } }: RouteTable): readonly Check[] {
  const [target, ...others] = new Set(alerts?.deliver.map((each) => each.target));
  if (target === undefined || QUIET.has(target)) return [];
  const about = { subject: 'alerts', check: 'several targets' };
  const detail = `all alerts go to ${target}: while it fails, they wait, and after a day they are lost`;
  const fix = 'add a target of another service to gateway.alerts.deliver';
  if (others.length === 0) return [gatewayCheck({ ...about, status: 'warning', detail, fix })];
  return [gatewayCheck({ ...about, status: 'ok', detail: [target, ...others].join(', ') })];
}

/** A larger difference is a failure, in ms; above 300 s, timestamps of senders are rejected (§8). */
const WARN_MS = 5000;
const FAIL_MS = 60_000;

/** @param skews our time minus theirs, in ms; the smallest counts, because another clock may be wrong */
export function checkClock(skews: readonly number[], live: boolean): Check {
  const about = { subject: 'clock', check: 'skew' };
  const skew = [...skews].sort((left, right) => Math.abs(left) - Math.abs(right))[0];
  if (skew === undefined) {
    const detail = live ? 'no service reported its time' : 'only checked with --live';
    return gatewayCheck({ ...about, status: 'skipped', detail });
  }
  const seconds = Math.round(Math.abs(skew) / 1000);
  const detail = seconds === 0 ? 'agrees with the services' : `${seconds} s ${skew > 0 ? 'ahead' : 'behind'}`;
  const status = Math.abs(skew) > FAIL_MS ? 'failed' : Math.abs(skew) > WARN_MS ? 'warning' : 'ok';
  if (status === 'ok') return gatewayCheck({ ...about, status, detail });
  return gatewayCheck({ ...about, status, detail, fix: 'synchronise the clock of this machine (NTP)' });
}
