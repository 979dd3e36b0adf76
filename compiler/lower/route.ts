/** Lowers a checked route to its plan, which contains everything that processing a request needs. */
import { join } from 'node:path';
import { agentToolsets } from '../../base/agent-plan.ts';
import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import type {
  CoalesceConfig,
  CoalescePlan,
  MaxAgePlan,
  Place,
  RouteConfig,
  RoutePlan,
  RouteSecret,
  TemplatePlan,
  TemplateSegment,
} from '../../schemas/generated/types.ts';
import { EVENTS, keepsAll } from '../config/burst.ts';
import { lowerField } from '../config/field.ts';
import { lowerScript, scriptPath, scriptsFolder } from '../config/script.ts';
import { webhookToolsets } from '../config/toolsets.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/problem.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import { findJobs } from '../views/find-job.ts';
import type { RouteView } from '../views/views.ts';
import { lowerBudget } from './budget.ts';
import { lowerDeliver, lowerReceiver } from './delivery.ts';
import { lowerEvents } from './events.ts';
import { lowerFilters } from './filter.ts';
import { markSegments, markUntrusted } from './mark-untrusted.ts';
import { lowerOutputs } from './outputs.ts';
import { compactPayload, defaultPrompt, lowerCoalesceKey, lowerTemplate } from './template.ts';

const DEFAULT_WINDOW_SECONDS = 30;
const DEFAULT_MAX_WAIT_SECONDS = 300;
const DEFAULT_LOOP_LIMIT = 10;
const DEFAULT_MAX_EVENTS = 50;

/** Collects the problems, with paths relative to the route, and returns the plan. */
type Take = <T>(lowered: Lowered<T>, path: NodePath) => T | null;

/** Accepts anything that passes the schema. The plan is usable only if no rule reports an error. */
export function lowerRoute(route: RouteView, at: Place): Lowered<RoutePlan> {
  const { name, config, mode, profile, scope, insecure } = route;
  const problems: Problem[] = [];
  const take: Take = (lowered, path) => {
    problems.push(...lowered.problems.map((problem) => ({ ...problem, path: [...path, ...problem.path] })));
    return lowered.plan;
  };
  const plan: RoutePlan = {
    name,
    profile,
    at,
    enabled: config.enabled ?? true,
    description: config.description ?? null,
    mode,
    source: config.source === undefined ? null : (scope.table.sources[config.source]?.scheme ?? null),
    insecure,
    schemes: insecure ? [] : route.schemes.map((scheme) => scheme.name),
    secrets: insecure ? [] : lowerSecrets(route),
    verify_token: config.verify_token === undefined ? null : parseSecretRef(config.verify_token, DEFAULT_PROFILE),
    public_url: lowerPublicUrl(route),
    events:
      config.events === undefined || config.events.length === 0
        ? null
        : take(lowerEvents(config.events, route.eventNames), ['events']),
    filters: config.filters === undefined ? null : take(lowerFilters(config.filters), ['filters']),
    script: lowerRouteScript(route),
    prompt: markUntrusted(route, lowerPrompt(config, take)),
    agent: mode === 'agent' ? (config.agent ?? null) : null,
    skills: mode === 'agent' ? (config.skills ?? []) : [],
    toolsets: mode === 'agent' ? lowerToolsets(route) : [],
    deliver: mode === 'cron' ? [] : (take(lowerDeliver(config, scope.table), []) ?? []),
    ...(mode === 'agent' ? take(lowerOutputs(config.outputs, scope.table), []) : {}),
    cron_job: config.cron_job === undefined ? null : (findJobs(route, config.cron_job)[0]?.id ?? null),
    coalesce: config.coalesce === undefined ? null : lowerCoalesce(route, config.coalesce, take),
    session: mode === 'agent' ? lowerSession(config, take) : null,
    mirror_to_session: mode !== 'cron' && (config.mirror_to_session ?? false),
    rate_limit: config.rate_limit ?? scope.table.server.rate_limit,
    max_concurrent: config.max_concurrent ?? null,
    ...lowerBudget(config),
    on_failure: mode === 'agent' ? (take(lowerReceiver(config.on_failure, scope.table), ['on_failure']) ?? []) : [],
    loop_limit: config.loop_limit ?? DEFAULT_LOOP_LIMIT,
    allow_own_events: config.allow_own_events ?? false,
    ...lowerStatus(route),
    idempotency_ttl_seconds: config.idempotency_ttl_seconds ?? defaultWindow(route),
    max_age: lowerMaxAge(config),
    capture: config.capture ?? scope.table.gateway.capture,
  };
  return { plan, problems };
}

/** The events of a coalesce group have one run, that of the last. */
const lowerStatus = ({ mode, config }: RouteView): Pick<RoutePlan, 'status'> =>
  config.status_url === true && config.coalesce === undefined && (mode === 'agent' || mode === 'message')
    ? { status: { answer: config.status_answer === true } }
    : {};

function lowerPrompt(config: RouteConfig, take: Take): TemplatePlan {
  const { prompt } = config;
  const plan = prompt === undefined ? defaultPrompt : (take(lowerTemplate(prompt), ['prompt']) ?? []);
  const isList = (segment: TemplateSegment): boolean => segment.kind === 'path' && segment.text === EVENTS;
  return keepsAll(config) ? plan.map((segment) => (isList(segment) ? { kind: 'events' } : segment)) : plan;
}

/** The route's own URL, or the server's URL with the route's path appended. */
function lowerPublicUrl({ name, profile, config, scope }: RouteView): string | null {
  const { public_url: base } = scope.table.server;
  if (config.public_url !== undefined || base === null) return config.public_url ?? null;
  return `${base.replace(/\/+$/, '')}${profile === DEFAULT_PROFILE ? '' : `/p/${profile}`}/webhooks/${name}`;
}

/** Delivery ids are remembered at least as long as the sender is known to retry. */
const defaultWindow = ({ facts, scope }: RouteView): number =>
  Math.max(scope.table.server.idempotency_ttl_seconds, facts?.horizon_seconds ?? 0);

const lowerSecrets = (route: RouteView): RouteSecret[] =>
  route.secrets.map(({ ref, expires_at }) => ({ ref, expires_at }));

/** The route of a profile that is not served is unreachable; it inherits the default profile's toolsets. */
function lowerToolsets({ config, profilePlan, scope }: RouteView): string[] {
  const profile = profilePlan ?? scope.table.profiles[DEFAULT_PROFILE];
  const granted = webhookToolsets(config.toolsets ?? profile?.toolsets ?? [], scope.table.toolsets);
  return agentToolsets(granted, profile, config.agent ?? null);
}

function lowerRouteScript({ config, profilePlan, scope }: RouteView): RoutePlan['script'] {
  if (config.script === undefined) return null;
  const folder = scriptsFolder(join(scope.facts.home, profilePlan?.home ?? ''));
  const path = scriptPath(config.script, folder);
  return path === null ? null : lowerScript(path, scope.table.server.script_timeout_seconds);
}

/** The rule `max-age` reports one key without the other, and a time that is no path. */
function lowerMaxAge({ max_age_seconds: seconds, timestamp }: RouteConfig): MaxAgePlan | null {
  const time = timestamp === undefined ? 'none' : lowerField(timestamp);
  return seconds === undefined || typeof time === 'string' ? null : { seconds, time };
}

function lowerSession({ session_key: key, session_scope }: RouteConfig, take: Take): RoutePlan['session'] {
  if (key === undefined) return null;
  return { key: take(lowerCoalesceKey(key), ['session_key']) ?? [], scope: session_scope ?? null };
}

function lowerCoalesce(route: RouteView, config: CoalesceConfig, take: Take): CoalescePlan {
  const { each, max_events = DEFAULT_MAX_EVENTS } = config;
  const line = each === undefined ? compactPayload : (take(lowerTemplate(each), ['coalesce', 'each']) ?? []);
  return {
    key: take(lowerCoalesceKey(config.key), ['coalesce', 'key']) ?? [],
    window_seconds: config.window_seconds ?? DEFAULT_WINDOW_SECONDS,
    max_wait_seconds: config.max_wait_seconds ?? DEFAULT_MAX_WAIT_SECONDS,
    ...(keepsAll(route.config) ? { all: { each: markSegments(route, line), max_events } } : {}),
  };
}
