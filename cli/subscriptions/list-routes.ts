/** Describes routes for lists: their text in the file, and how the gateway serves them. Without secrets. */

import { labelIn } from '../../base/label.ts';
import { compileSubscriptions } from '../../compiler/stages/compile-subscriptions.ts';
import type { RouteRow, RouteState } from '../../schemas/built/operations/types.ts';
import type { RouteConfig, RoutePlan } from '../../schemas/generated/types.ts';
import { describePause } from '../output/pause.ts';
import { publicRouteUrl } from './address.ts';
import type { OpenTable } from './open-table.ts';
import type { PauseOf } from './pause-route.ts';
import { asEntry, parseSubscriptions, readSubscriptionText } from './subscription-file.ts';

type ServedTable = Pick<OpenTable, 'table' | 'url'>;

interface ListedRoute extends RouteRow {
  /** Of scripts: its name. */
  readonly id: string;
}

/** @throws CliError when the subscriptions file cannot be parsed */
export function listRoutes(home: string, open: OpenTable, all: boolean, pauseOf: PauseOf): ListedRoute[] {
  const fixed = all ? Object.values(open.table.routes).map((plan) => servedRow(plan, 'static', open)) : [];
  return [...fixed, ...subscriptionRows(home, open)].map((row) => {
    const { since, until } = pauseOf(row.profile, row.name) ?? { since: null, until: null };
    return { id: row.name, ...row, paused: since === null ? null : { since, until } };
  });
}

function subscriptionRows(home: string, open: OpenTable): Omit<RouteRow, 'paused'>[] {
  const text = readSubscriptionText(home);
  const entries = parseSubscriptions(home, text);
  const { routes, rejected } = compileSubscriptions(text, open);
  const plans = new Map(routes.map((plan) => [plan.name, plan]));
  const reasons = new Map(rejected.map(({ name, reason }) => [name, reason]));
  return [...entries].map(([name, value]) => {
    const entry = asEntry(value) ?? {};
    const plan = plans.get(name) ?? null;
    const [state, reason] = stateOf(name, plan, reasons.get(name), open);
    const profile = plan?.profile ?? entry.profile ?? 'default';
    return {
      ...{ name, kind: 'dynamic', state, reason, profile },
      url: publicRouteUrl({ name, profile }, open),
      mode: plan?.mode ?? null,
      source: plan === null ? (asList(entry.source)[0] ?? null) : sourceOf(plan, open),
      events: asList(entry.events),
      deliver: plan === null ? asList(entry.deliver) : targetsOf(plan, open),
      cron_job: entry.cron_job ?? null,
      description: entry.description ?? null,
      toolsets: entry.toolsets ?? null,
      secrets: plan?.secrets.length ?? secretsIn(entry),
    } satisfies Omit<RouteRow, 'paused'>;
  });
}

/** The row of a route in service. */
export function servedRow(plan: RoutePlan, kind: RouteRow['kind'], open: ServedTable): Omit<RouteRow, 'paused'> {
  const [state, reason] = servedState(plan, open);
  const { name, profile, mode, cron_job, description, toolsets } = plan;
  return {
    ...{ name, kind, state, reason, profile },
    url: publicRouteUrl(plan, open),
    mode,
    source: sourceOf(plan, open),
    events: [...(plan.events?.exact ?? []), ...(plan.events?.globs ?? []).map(({ text }) => text)],
    deliver: targetsOf(plan, open),
    ...{ cron_job, description, toolsets, secrets: plan.secrets.length },
  };
}

function stateOf(
  name: string,
  plan: RoutePlan | null,
  rejection: string | undefined,
  open: OpenTable,
): readonly [RouteState, string | null] {
  if (plan === null) return ['quarantined', rejection ?? 'it has an error'];
  const fixed = Object.hasOwn(open.table.routes, name) ? open.table.routes[name] : undefined;
  if (fixed !== undefined) return ['shadowed', `a static route of this name wins: ${fixed.at.file}:${fixed.at.line}`];
  return servedState(plan, open);
}

function servedState({ profile, enabled }: RoutePlan, { table }: ServedTable): readonly [RouteState, string | null] {
  if (profile !== 'default' && !table.gateway.multiplex_profiles)
    return ['unreachable', 'gateway.multiplex_profiles is off'];
  return [enabled ? 'serving' : 'disabled', null];
}

const targetsOf = ({ mode, deliver }: RoutePlan, { table }: ServedTable): string[] =>
  mode === 'cron' ? [] : deliver.map(({ target }) => labelIn(table.targets, target));

const sourceOf = ({ source }: RoutePlan, { table }: ServedTable): string | null =>
  source === null ? null : labelIn(table.schemes, source);

/** Rejected entries may contain anything. */
function asList(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' ? [value] : [];
}

const secretsIn = ({ secret, secrets }: RouteConfig): number =>
  Array.isArray(secrets) ? secrets.length : secret === undefined ? 0 : 1;

/** `serving`, `serving, paused until …`, `quarantined: …`. */
export function describeState({ state, reason, paused }: RouteRow): string {
  const pause = paused === null ? '' : `, ${describePause(true, paused.until)}`;
  return `${state}${reason === null ? '' : `: ${reason}`}${pause}`;
}
