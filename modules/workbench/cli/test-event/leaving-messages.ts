/** The messages that a test event would send away from this machine, for a question before it is sent. */
import { labelIn } from '../../../../base/label.ts';
import { isLoopback } from '../../../../base/listen-address.ts';
import type { RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { Explained } from '../explain/explain-route.ts';

/**
 * A line for each message: its target, and the address that the payload gives. Empty when the event is not taken, or all
 * that follows from it stays here: the targets `log` and `local`, and services on a loopback address.
 * @param explained what becomes of the event
 */
export function leavingMessages(
  { profile, cron_job }: RoutePlan,
  table: RouteTable,
  { messages }: Pick<Explained, 'messages'>,
): readonly string[] {
  if (messages === null) return [];
  const job = cron_job !== null && Object.hasOwn(table.jobs, cron_job) ? table.jobs[cron_job] : undefined;
  const { deliver = [], outputs = [], on_failure = [] } = job ?? {};
  const ofJob = [...deliver, ...outputs.map(({ delivery }) => delivery), ...on_failure].map(({ target }) => ({
    target: labelIn(table.targets, target),
    address: {},
  }));
  const leaving = [...messages, ...ofJob].filter(({ target }) =>
    leaves(table, profile, table.target_names[target] ?? target),
  );
  const named = leaving.map(({ target, address }) =>
    [target, ...Object.entries(address).map(([key, value]) => `${key}=${value}`)].join(' '),
  );
  return [...new Set(named)];
}

function leaves({ targets, profiles }: RouteTable, profile: string, target: string): boolean {
  const plan = Object.hasOwn(targets, target) ? targets[target] : undefined;
  if (plan === undefined || plan.driver === 'log' || plan.driver === 'local') return false;
  const base = profiles[profile]?.targets[target]?.api_base ?? null;
  return base === null || !URL.canParse(base) || !isLoopback(new URL(base).hostname.replace(/^\[(.*)\]$/, '$1'));
}
