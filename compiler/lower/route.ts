/** Lowers a checked route to its plan, which contains everything that processing a request needs. */
import { join } from 'node:path';
import { agentToolsets, DEFAULT_PROFILE } from '../../base/names.ts';
import type {
  CoalesceConfig,
  CoalescePlan,
  DeliveryPlan,
  EventsPlan,
  GlobPlan,
  MaxAgePlan,
  OutputPlan,
  OutputsConfig,
  RouteConfig,
  RoutePlan,
  RouteSecret,
  TemplatePlan,
  TemplateSegment,
} from '../../schemas/generated/types.ts';
import { webhookToolsets } from '../config/agents.ts';
import { lowerField } from '../config/grammar.ts';
import type {
  DeliverExtra,
  DeliveryConfig,
  ExtraValue,
  KnownTargets,
  Scalar,
  SenderEventNames,
} from '../config/route-keys.ts';
import {
  deliveryOf,
  EVENTS,
  extraOf,
  isEventGlob,
  keepsAll,
  lowerScript,
  outputPath,
  progressTargets,
  scriptPath,
  scriptsFolder,
  sessionOf,
  targetNamed,
  writtenTargets,
} from '../config/route-keys.ts';
import type { TableContent } from '../config/settings.ts';
import type { WrittenText } from '../config/written-numbers.ts';
import type { Lowered, Planned, Problem, Take } from '../diagnostics/diagnostic.ts';
import { takeInto } from '../diagnostics/diagnostic.ts';
import { globSource, linkGlob } from '../globs/linear-glob.ts';
import { isPlainMap, setOwn } from '../text/plain-data.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import type { RouteEntry, RouteView } from '../views/views.ts';
import { findJobs } from '../views/views.ts';
import { lowerBudget } from './agent.ts';
import { askAboutField, lowerFilters } from './filter.ts';
import { acceptTimeout, lowerRespond } from './respond.ts';
import {
  compactPayload,
  defaultPrompt,
  lowerCoalesceKey,
  lowerTemplate,
  markSegments,
  markUntrusted,
} from './template.ts';

const DEFAULT_WINDOW_SECONDS = 30;
const DEFAULT_MAX_WAIT_SECONDS = 300;
const DEFAULT_LOOP_LIMIT = 10;
const DEFAULT_MAX_EVENTS = 50;

/** Accepts anything that passes the schema. The plan is usable only if no rule reports an error. */
export function lowerRoute(route: RouteView, { at, written }: Pick<RouteEntry, 'at' | 'written'>): Planned<RoutePlan> {
  const { name, config, mode, profile, scope, insecure } = route;
  const problems: Problem[] = [];
  const take = takeInto(problems);
  const textOf: WrittenText = (path) => written?.(['filters', ...path]) ?? null;
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
    ...(route.labels === undefined ? {} : { labels: route.labels }),
    secrets: insecure ? [] : lowerSecrets(route),
    verify_token: config.verify_token === undefined ? null : parseSecretRef(config.verify_token, DEFAULT_PROFILE),
    public_url: lowerPublicUrl(route),
    events:
      config.events === undefined || config.events.length === 0
        ? null
        : take(lowerEvents(config.events, route.eventNames), ['events']),
    filters: config.filters === undefined ? null : take(lowerFilters(config.filters, textOf), ['filters']),
    script: lowerRouteScript(route),
    prompt: markUntrusted(route, lowerPrompt(config, take)),
    agent: mode === 'agent' ? (config.agent ?? null) : null,
    skills: mode === 'agent' ? (config.skills ?? []) : [],
    toolsets: mode === 'agent' ? lowerToolsets(route) : [],
    deliver: mode === 'cron' ? [] : take(lowerDeliver(config, scope.table), []),
    ...(mode === 'agent' ? take(lowerOutputs(config.outputs, scope.table), []) : {}),
    cron_job: config.cron_job === undefined ? null : (findJobs(route, config.cron_job)[0]?.id ?? null),
    coalesce: config.coalesce === undefined ? null : lowerCoalesce(route, config.coalesce, take),
    session: mode === 'agent' ? lowerSession(config, take) : null,
    ...lowerPins(route, take),
    ...lowerProgress(route, take),
    mirror_to_session: mode !== 'cron' && (config.mirror_to_session ?? false),
    rate_limit: config.rate_limit ?? scope.table.server.rate_limit,
    max_concurrent: config.max_concurrent ?? null,
    ...lowerBudget(config),
    on_failure: mode === 'agent' ? take(lowerReceiver(config.on_failure, scope.table), ['on_failure']) : [],
    loop_limit: config.loop_limit ?? DEFAULT_LOOP_LIMIT,
    allow_own_events: config.allow_own_events ?? false,
    ...lowerStatus(route),
    ...respondOf(route, take),
    idempotency_ttl_seconds: config.idempotency_ttl_seconds ?? defaultWindow(route),
    accept_timeout_seconds: acceptTimeout(route),
    ...(config.replay_guard === undefined ? {} : { replay_guard: config.replay_guard }),
    max_age: lowerMaxAge(config, take),
    capture: config.capture ?? scope.table.gateway.capture,
  };
  return { plan, problems };
}

/** The events of a coalesce group share one run, the last event's. */
const lowerStatus = ({ mode, config }: RouteView): Pick<RoutePlan, 'status'> =>
  config.status_url === true && config.coalesce === undefined && (mode === 'agent' || mode === 'message')
    ? { status: { answer: config.status_answer === true } }
    : {};

function respondOf(route: RouteView, take: Take): Pick<RoutePlan, 'respond'> {
  const { respond } = route.config;
  if (respond === undefined) return {};
  return { respond: take(lowerRespond(respond, lowerStatus(route).status !== undefined), ['respond']) };
}

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

/** A route of a profile that is not served is unreachable; it inherits the default profile's toolsets. */
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

/** The rule `max-age` reports one key without the other, and an invalid path. */
function lowerMaxAge({ max_age_seconds: seconds, timestamp }: RouteConfig, take: Take): MaxAgePlan | null {
  const time = timestamp === undefined ? 'none' : lowerField(timestamp);
  if (timestamp !== undefined && typeof time !== 'string')
    take({ plan: null, problems: askAboutField(timestamp, []) }, ['timestamp']);
  return seconds === undefined || typeof time === 'string' ? null : { seconds, time };
}

function lowerSession(config: RouteConfig, take: Take): RoutePlan['session'] {
  const session = sessionOf(config);
  if (session === null) return null;
  const { key, scope = null, on_newer = 'queue', path } = session;
  return { key: take(lowerCoalesceKey(key), path) ?? [], scope, ...(on_newer === 'queue' ? {} : { on_newer }) };
}

/** Of the commits that its targets read from events, the first one counts. */
function lowerPins({ config, mode, targets, scope }: RouteView, take: Take): Pick<RoutePlan, 'pins'> {
  const { outputs = {} } = config;
  const fresh = mode === 'direct' ? undefined : config.fresh;
  const { targets: plans, target_names: names } = scope.table;
  const named = [...targets.map(({ name }) => name), ...Object.values(outputs).map(({ deliver }) => deliver)];
  const commit = named.map((name) => plans[targetNamed(names, name) ?? '']?.commit).find((one) => one !== undefined);
  const texts = mode === 'cron' ? [] : Object.entries({ fresh, commit }).filter(([, text]) => text !== undefined);
  const pins = texts.map(([name, text = '']) => [name, take(lowerTemplate(text), [name]) ?? []]);
  return pins.length === 0 ? {} : { pins: Object.fromEntries(pins) };
}

function lowerProgress({ config, mode, scope: { table } }: RouteView, take: Take): Pick<RoutePlan, 'progress'> {
  const [target] = progressTargets(config, table);
  if (target?.progress === undefined || mode === 'direct' || mode === 'cron') return {};
  const places = target.progress.at.map((at) => lowerDeliveries({ deliver: target.name, deliver_extra: at }, table));
  return { progress: places.flatMap((place) => take(place, ['progress'])) };
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

/** An empty list accepts every event. Reports `event-glob` for globs that are invalid or cannot be matched in linear time. */
export function lowerEvents(entries: readonly string[], names: SenderEventNames = {}): Lowered<EventsPlan> {
  const exact = new Set<string>();
  const globs = new Map<string, GlobPlan>();
  const problems: Problem[] = [];
  entries.forEach((entry, index) => {
    if (!isEventGlob(entry)) {
      exact.add(entry);
      return;
    }
    const source = globSource(entry);
    if (typeof source === 'string') {
      globs.set(source, { text: entry, source });
      return;
    }
    const message = `${JSON.stringify(entry)} is not a supported glob: ${source.message}`;
    problems.push({ rule: 'event-glob', path: [index], at: 'value', message });
  });
  if (problems.length > 0) return { plan: null, problems };
  const plan: EventsPlan = { exact: [...exact], globs: [...globs.values()] };
  return { plan: { ...plan, ...furtherNames(plan, names) }, problems };
}

/** Events that are sent under one name and accepted under an alternative name. */
function furtherNames({ exact, globs }: EventsPlan, names: SenderEventNames): Pick<EventsPlan, 'names'> {
  const linked = globs.map(({ text, source }) => ({ text, passes: linkGlob(source) }));
  const entryFor = (name: string): string | undefined =>
    exact.includes(name) ? name : linked.find(({ passes }) => passes(name))?.text;
  const taken = Object.entries(names).flatMap(([sent, further]): [string, string][] => {
    const entry = further.map(entryFor).find((found) => found !== undefined);
    return entry === undefined ? [] : [[sent, entry]];
  });
  return taken.length === 0 ? {} : { names: Object.fromEntries(taken) };
}

function flatExtra(extra: DeliverExtra): ReadonlyMap<string, ExtraValue> {
  const flat = Object.entries(extra).filter((entry): entry is [string, Scalar] => !isPlainMap(entry[1]));
  return new Map(flat.map(([key, value]) => [key, { text: String(value), path: [key] }]));
}

/** The deliveries of the gateway's own messages; none without a config. */
export const lowerReceiver = (config: DeliveryConfig | undefined, table: KnownTargets): Planned<DeliveryPlan[]> =>
  config === undefined ? { plan: [], problems: [] } : lowerDeliveries(config, table);

/** Default time that a message waits for approval, in ms. */
export const APPROVE_MS = 86_400_000;

/** Lowers `deliver` of a route, a job or an output; with `approve`, each message waits for approval. @param words as of `lowerDeliveries` */
export function lowerDeliver(
  config: DeliveryConfig & { readonly approve?: boolean | undefined },
  table: Pick<TableContent, 'targets' | 'target_names' | 'gateway'>,
  words: readonly string[] = [],
): Planned<DeliveryPlan[]> {
  const { plan, problems } = lowerDeliveries(config, table, words);
  if (config.approve !== true) return { plan, problems };
  const approve_ms = table.gateway.approvals?.expires_ms ?? APPROVE_MS;
  return { plan: plan.map((delivery) => ({ ...delivery, approve_ms })), problems };
}

/**
 * Unknown targets are omitted; the rule `unknown-target` reports them. A value with an error is empty, because without its key
 * the message would go to the home channel.
 * @param words names that are not targets and are kept unchanged (`origin`); they accept every key
 */
function lowerDeliveries(
  config: DeliveryConfig,
  table: KnownTargets,
  words: readonly string[] = [],
): Planned<DeliveryPlan[]> {
  const problems: Problem[] = [];
  const take = takeInto(problems);
  const names = new Map<string, string>();
  for (const { name } of writtenTargets(config.deliver)) {
    const target = words.includes(name) ? name : targetNamed(table.target_names, name);
    if (target !== null && !names.has(target)) names.set(target, name);
  }
  const plan = [...names].map(([target, label]): DeliveryPlan => {
    const extra: Record<string, TemplatePlan> = {};
    const known = table.targets[target];
    const written = config.deliver_extra ?? {};
    const values = known === undefined ? flatExtra(written) : extraOf(written, known, table.target_names);
    for (const [key, { text, path }] of values)
      setOwn(extra, key, take(lowerTemplate(text), ['deliver_extra', ...path]) ?? []);
    // A placeholder of the URL that `deliver_extra` does not set is a field of the payload.
    for (const { name } of known?.variants.some(({ webhook }) => webhook !== undefined) ? known.address : [])
      if (!Object.hasOwn(extra, name)) setOwn(extra, name, lowerTemplate(`{${name}}`).plan ?? []);
    return { target, ...(label === target ? {} : { label }), extra };
  });
  return { plan, problems };
}

/**
 * Omitted if there are none. Unknown targets are omitted; the rule `unknown-target` reports them.
 * @param words as of `lowerDeliveries`
 */
export function lowerOutputs(
  outputs: OutputsConfig | undefined,
  table: Pick<TableContent, 'targets' | 'target_names' | 'gateway'>,
  words: readonly string[] = [],
): Planned<{ outputs?: OutputPlan[] }> {
  const problems: Problem[] = [];
  const plans = Object.entries(outputs ?? {}).flatMap(([name, output]): OutputPlan[] => {
    const lowered = lowerDeliver({ ...deliveryOf(output), approve: output.approve }, table, words);
    problems.push(...lowered.problems.map((problem) => ({ ...problem, path: outputPath(name, problem.path) })));
    const allowed = Object.entries(output.allow ?? {}).map(([field, values]) => [field, values.map(String)]);
    const allow = Object.fromEntries(allowed) as OutputPlan['allow'];
    const limits = { allow, max: output.max ?? 1, ...(output.required === true ? { required: true as const } : {}) };
    return lowered.plan.map((delivery) => ({ name, delivery, ...limits }));
  });
  return { plan: plans.length === 0 ? {} : { outputs: plans }, problems };
}
