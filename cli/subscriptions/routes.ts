/** Finds, lists and pauses static routes and subscriptions, for commands. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeJson } from '../../base/exact-number.ts';
import { listenUrl } from '../../base/net.ts';
import { schemeLabel, targetLabel } from '../../base/text.ts';
import type { Diagnostic, NodePath, Problem } from '../../compiler/diagnostics/diagnostic.ts';
import { isError, ruleOf } from '../../compiler/diagnostics/rule.ts';
import { createMachineFacts } from '../../compiler/node/machine-facts.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { rulesInForce } from '../../compiler/rules/registry.ts';
import { overlayFiles } from '../../compiler/source/files.ts';
import type { SubscriptionProblem } from '../../compiler/stages/compile-subscriptions.ts';
import { compileSubscriptions, SUBSCRIPTIONS_FILE } from '../../compiler/stages/compile-subscriptions.ts';
import { isPlainMap } from '../../compiler/text/plain-data.ts';
import { suggest } from '../../compiler/text/suggest.ts';
import type { MachineFacts, ViewRule } from '../../compiler/views/views.ts';
import type { ActionsOfRoute } from '../../runtime/store/actions.ts';
import { readRouteActions } from '../../runtime/store/actions.ts';
import type { Store } from '../../runtime/store/contract.ts';
import { pausedRoutes } from '../../runtime/store/records.ts';
import type { RouteRow, RouteState } from '../../schemas/built/operations/types.ts';
import type { RouteConfig, RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError, findName } from '../base/errors.ts';
import { compileRequest, createCompileRequest } from '../compile/compile-files.ts';
import { loadRules } from '../compile/compiler-parts.ts';
import { tryCallGateway } from '../gateway/ask-gateway.ts';
import { formatDiagnostics, printLine, printNote, visible } from '../output/print.ts';
import { describePause, pausedUntil } from '../output/table.ts';
import { makeStore, readJobsToCompile, refreshCopy, useStore } from '../store/use-store.ts';
import { asEntry, parseSubscriptions, readSubscriptionText } from './subscription-file.ts';

/**
 * The table that a command about routes uses: the table of the running gateway, or else the configuration compiled now.
 */
export interface OpenTable {
  readonly table: RouteTable;
  readonly facts: MachineFacts;
  /** From `rulesInForce`. */
  readonly rules: readonly ViewRule[];
  /** The URL of the running gateway of this home, or null. */
  readonly url: string | null;
  /** The configs that it was compiled from; undefined for the default search. */
  readonly configs?: readonly string[] | undefined;
}

/** @throws CliError if there is no table, after printing the diagnostics */
export async function openTable(context: CliContext, configs: readonly string[] | undefined): Promise<OpenTable> {
  const { open, diagnostics } = await findTable(context, configs);
  if (open !== null) return open;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  context.stderr.write(formatDiagnostics('pretty', errors, context, 'stderr'));
  throw new CliError('the configuration has errors', 'fix them first: hookwright lint');
}

/** Returns null if there is no table, for commands that do not need one. */
export async function tryOpenTable(
  context: CliContext,
  configs: readonly string[] | undefined,
): Promise<OpenTable | null> {
  return (await findTable(context, configs)).open;
}

async function findTable(
  context: CliContext,
  configs: readonly string[] | undefined,
): Promise<{ readonly open: OpenTable | null; readonly diagnostics: readonly Diagnostic[] }> {
  await refreshCopy(context, configs);
  const status = await tryCallGateway(context, 'status', {});
  const url = status?.url ?? null;
  if (status !== null && configs === undefined) {
    const table = JSON.parse(readFileSync(status.table.file, 'utf8')) as RouteTable;
    const facts = createMachineFacts(context, await readJobsToCompile(context, undefined));
    const rules = await loadRules(context.modules);
    const served = status.config === null ? undefined : [status.config];
    return { open: { table, facts, rules, url, configs: served }, diagnostics: [] };
  }
  const request = await createCompileRequest(context, { configs });
  const facts = createMachineFacts(context, request.jobs);
  const { output, diagnostics } = compileRequest(request);
  const rules = rulesInForce(request.modules);
  return { open: output === null ? null : { table: output.table, facts, rules, url, configs }, diagnostics };
}

type RouteAddress = Pick<RoutePlan, 'name' | 'profile'>;

export function routePath({ name, profile }: RouteAddress): string {
  return profile === 'default' ? `/webhooks/${name}` : `/p/${profile}/webhooks/${name}`;
}

/** The URL for the sender, under `public_url` if that is set. */
export function publicRouteUrl(route: RouteAddress, open: ServedTable): string {
  const base = open.table.server.public_url ?? localBase(open);
  return base.replace(/\/+$/, '') + routePath(route);
}

/** The server's URL on this machine, with loopback instead of a wildcard address. */
export const localBase = ({ table, url }: ServedTable): string =>
  (url ?? listenUrl(table.server.host, table.server.port))
    .replace('//0.0.0.0:', '//127.0.0.1:')
    .replace('//[::]:', '//[::1]:')
    .replace('//:', '//127.0.0.1:');

const SCHEME = 'generic-v2';

/** Null for a route that does not accept the generic scheme; use `webhook test` for it. */
export function curlLine({ schemes, events }: RoutePlan, url: string, secret: string): string | null {
  if (!schemes.includes(SCHEME)) return null;
  const body = JSON.stringify({ event_type: events?.exact[0] ?? 'test' });
  return [
    `t=$(date +%s); b=${quote(body)};`,
    `curl -d "$b" -H 'Content-Type: application/json' -H "X-Webhook-Timestamp: $t"`,
    `-H "X-Webhook-Signature-V2: $(printf '%s.%s' "$t" "$b" | openssl dgst -sha256 -hmac ${quote(secret)} | sed 's/.* //')"`,
    quote(url),
  ].join(' ');
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export interface CheckedEntry {
  /** Null only if existing keys of the entry are unknown: the entry is kept but not served. */
  readonly plan: RoutePlan | null;
  readonly warnings: readonly string[];
}

/**
 * @param before the previous entry: its unknown keys are only warnings, because a newer version may know them
 * @throws CliError listing every error
 */
export function checkEntry(
  name: string,
  entry: RouteConfig,
  before: RouteConfig | undefined,
  open: OpenTable,
): CheckedEntry {
  rejectStatic(name, open);
  const { problems, routes } = compileSubscriptions(writeJson({ [name]: entry }), open);
  const errors = problems.filter((problem) => isError(problem) && !isOldUnknown(problem, before));
  if (errors.length > 0)
    throw new CliError(`subscription "${name}" is invalid; nothing was written`, ...errors.map(describeInEntry));
  return { plan: routes[0] ?? null, warnings: problems.map(describeInEntry) };
}

/**
 * Warnings about untrusted text that only this subscription causes, including those about its agent. The table lacks the
 * facts for these rules, so the configuration is compiled with and without the subscription.
 */
export async function strangerWarnings(
  context: CliContext,
  name: string,
  entry: RouteConfig,
  { configs }: OpenTable,
): Promise<readonly string[]> {
  const request = await createCompileRequest(context, { configs });
  const warningsWith = (entries: Readonly<Record<string, RouteConfig>>): readonly string[] => {
    const changes = new Map([[join(context.home, SUBSCRIPTIONS_FILE), writeJson(entries)]]);
    const { diagnostics } = compileRequest(request, overlayFiles(nodeFiles, changes));
    const found = diagnostics.filter(
      ({ rule, severity }) => severity === 'warning' && ruleOf(rule).group === 'strangers',
    );
    return found.map((diagnostic) => describeProblem(diagnostic, []));
  };
  const before = new Set(warningsWith({}));
  return warningsWith({ [name]: entry }).filter((warning) => !before.has(warning));
}

const staticRoute = (name: string, { table }: OpenTable): RoutePlan | undefined =>
  Object.hasOwn(table.routes, name) ? table.routes[name] : undefined;

/** @throws CliError with the position of the static route, if there is one with this name */
export function rejectStatic(name: string, open: OpenTable): void {
  const route = staticRoute(name, open);
  if (route === undefined) return;
  throw new CliError(`"${name}" is a static route`, `change it there: ${route.at.file}:${route.at.line}`);
}

function isOldUnknown({ rule, path }: SubscriptionProblem, before: RouteConfig | undefined): boolean {
  return rule === 'unknown-key' && path.length === 2 && before !== undefined && Object.hasOwn(before, String(path[1]));
}

/** @param path of the problem within the entry */
export function describeProblem(
  { message, rule, hint }: Pick<Problem, 'message' | 'rule' | 'hint'>,
  path: NodePath,
): string {
  const place = path.length === 0 ? '' : `${path.join('.')}: `;
  return `${place}${message} (${rule})${hint === undefined ? '' : `; ${hint}`}`;
}

const describeInEntry = (problem: SubscriptionProblem): string => describeProblem(problem, problem.path.slice(1));

export interface MatchedRoute {
  readonly plan: RoutePlan;
  readonly dynamic: boolean;
}

/** @param asked its name or a prefix @throws CliError if there is no such route, or it has errors */
export function findRoute({ home }: CliContext, requestedName: string, open: OpenTable): MatchedRoute {
  const fixed = Object.values(open.table.routes).map((plan) => [plan.name, plan] as const);
  // A static route takes precedence over a subscription of the same name; the file is read only if needed.
  const exact = fixed.find(([name]) => name === requestedName)?.[1];
  if (exact !== undefined) return { plan: exact, dynamic: false };
  const text = readSubscriptionText(home);
  const names = [...parseSubscriptions(home, text).keys()];
  const known = [...fixed, ...names.map((name) => [name, name] as const)];
  const found = findName<RoutePlan | string>({ kind: 'route', name: requestedName, known, listedBy: ALL_ROUTES });
  if (typeof found !== 'string') return { plan: found, dynamic: false };
  const compiled = compileSubscriptions(text, open);
  const plan = compiled.routes.find((route) => route.name === found);
  if (plan !== undefined) return { plan, dynamic: true };
  const reasons = compiled.problems
    .filter((problem) => problem.subscription === found && problem.message !== '')
    .map(describeInEntry);
  throw new CliError(`subscription "${found}" is not served`, ...reasons);
}

const ALL_ROUTES = 'hookwright webhook list --all';

/** The full name of a subscription, for commands that change it. @throws CliError for a static or unknown route */
export function subscriptionNamed(home: string, requestedName: string, open: OpenTable | null): string {
  const names = [...parseSubscriptions(home, readSubscriptionText(home)).keys()];
  if (!names.includes(requestedName) && open !== null) rejectStatic(requestedName, open);
  const known = names.map((name) => [name, name] as const);
  return findName({ kind: 'subscription', name: requestedName, known, listedBy: 'hookwright webhook list' });
}

export function unknownRoute(name: string, known: readonly string[]): CliError {
  const [close] = suggest(name, known);
  return new CliError(
    `there is no route "${name}"`,
    close === undefined ? `to list all: ${ALL_ROUTES}` : `did you mean ${close}?`,
  );
}

type ServedTable = Pick<OpenTable, 'table' | 'url'>;

interface ListedRoute extends RouteRow {
  /** The name of its script. */
  readonly id: string;
}

/** @throws CliError if the subscriptions file cannot be parsed */
export function listRoutes(home: string, open: OpenTable, all: boolean, actionsOf: ActionsOfRoute): ListedRoute[] {
  const fixed = all ? Object.values(open.table.routes).map((plan) => servedRow(plan, 'static', open)) : [];
  const rows = [...fixed, ...subscriptionRows(home, open)];
  return rows.map((row) => ({ id: row.name, ...row, ...actionsOf(row.profile, row.name) }));
}

function subscriptionRows(home: string, open: OpenTable): Omit<RouteRow, 'paused' | 'last_action'>[] {
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
      name,
      kind: 'dynamic',
      state,
      reason,
      profile,
      url: publicRouteUrl({ name, profile }, open),
      mode: plan?.mode ?? null,
      source: plan === null ? (asList(entry.source)[0] ?? null) : sourceOf(plan),
      events: asList(entry.events),
      deliver: plan === null ? asList(entry.deliver) : targetsOf(plan),
      cron_job: entry.cron_job ?? null,
      description: entry.description ?? null,
      toolsets: entry.toolsets ?? null,
      secrets: plan?.secrets.length ?? secretsIn(entry),
    } satisfies Omit<RouteRow, 'paused' | 'last_action'>;
  });
}

/** The row of a route in service. */
export function servedRow(
  plan: RoutePlan,
  kind: RouteRow['kind'],
  open: ServedTable,
): Omit<RouteRow, 'paused' | 'last_action'> {
  const [state, reason] = servedState(plan, open);
  const { name, profile, mode, cron_job, description, toolsets } = plan;
  return {
    name,
    kind,
    state,
    reason,
    profile,
    url: publicRouteUrl(plan, open),
    mode,
    source: sourceOf(plan),
    events: [...(plan.events?.exact ?? []), ...(plan.events?.globs ?? []).map(({ text }) => text)],
    deliver: targetsOf(plan),
    cron_job,
    description,
    toolsets,
    secrets: plan.secrets.length,
  };
}

function stateOf(
  name: string,
  plan: RoutePlan | null,
  rejection: string | undefined,
  open: OpenTable,
): readonly [RouteState, string | null] {
  if (plan === null) return ['quarantined', rejection ?? 'it is invalid'];
  const fixed = staticRoute(name, open);
  if (fixed !== undefined) return ['shadowed', `a static route has this name: ${fixed.at.file}:${fixed.at.line}`];
  return servedState(plan, open);
}

function servedState({ profile, enabled }: RoutePlan, { table }: ServedTable): readonly [RouteState, string | null] {
  if (profile !== 'default' && !table.gateway.multiplex_profiles)
    return ['unreachable', 'gateway.multiplex_profiles is off'];
  return [enabled ? 'serving' : 'disabled', null];
}

const targetsOf = ({ mode, deliver }: RoutePlan): string[] => (mode === 'cron' ? [] : deliver.map(targetLabel));

const sourceOf = (plan: RoutePlan): string | null => (plan.source === null ? null : schemeLabel(plan, plan.source));

/** Reads a field of a rejected entry, which may contain any value. */
function asList(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' ? [value] : [];
}

const secretsIn = ({ secret, secrets }: RouteConfig): number =>
  Array.isArray(secrets) ? secrets.length : secret === undefined ? 0 : 1;

/** `serving`, `serving, paused until …`, `quarantined: …`. */
export function describeState({ state, reason, paused }: RouteRow): string {
  const pause = paused === null ? '' : `, ${describePause(true, paused.until, paused.by)}`;
  return `${state}${reason === null ? '' : `: ${reason}`}${pause}`;
}

interface PausedRouteName {
  /** Its name or a prefix. */
  readonly route: string;
  /** Duration in ms; undefined: until it is resumed. */
  readonly for?: number | undefined;
  readonly config: readonly string[] | undefined;
}

/** Resumes a paused route even if it is no longer served, because its events would wait forever. @throws CliError if there is no such route */
export async function pauseRoute(given: PausedRouteName, paused: boolean, context: CliContext): Promise<void> {
  const now = context.clock.now();
  const rows = paused ? [] : await useStore(context, (store) => store.read(PAUSES), given.config);
  const all = pausedRoutes(rows ?? [], now);
  const [held, ...others] = all.filter(({ route }) => route === given.route);
  const isHeld = held !== undefined && others.length === 0;
  const { name: route, profile } = isHeld
    ? { name: held.route, profile: held.profile }
    : findRoute(context, given.route, await openTable(context, given.config)).plan;
  const until = pausedUntil(given.for, now);
  await makeStore(context, (store) => store.write({ kind: 'pause_route', profile, route, paused, until, now }));
  const wasPaused = all.some((one) => one.route === route && one.profile === profile);
  printLine(
    context,
    `route ${visible(route)} ${paused || wasPaused ? describePause(paused, until) : 'was not paused'}`,
  );
}

const PAUSES = { kind: 'guard_rows', of: 'pause' } as const;

/** If the store cannot be read, no route is listed as paused, and a note is printed. */
export async function actionsOnRoutes(
  context: CliContext,
  configs: readonly string[] | undefined,
): Promise<ActionsOfRoute> {
  const read = (store: Store) => readRouteActions(store, context.clock.now());
  const found = await useStore(context, read, configs).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    printNote(context, `cannot tell which routes are paused: ${error.message}`);
    return null;
  });
  return found ?? (() => ({ paused: null, last_action: null }));
}

/** Names of subscriptions for messages: read from disk, fast, and without errors. */
export const subscriptionNames = ({ home }: CliContext): string[] =>
  Object.keys(readMap(join(home, 'webhook_subscriptions.json')));

/** Names of the compiled routes and of subscriptions. */
export function routeNames(context: CliContext): string[] {
  const routes = [context.cwd, context.home].flatMap((root) => {
    const { routes } = readMap(join(root, 'build', 'routes.json'));
    return isPlainMap(routes) ? Object.values(routes) : [];
  });
  return [...routes.flatMap((route) => (isPlainMap(route) ? String(route.name) : [])), ...subscriptionNames(context)];
}

function readMap(path: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isPlainMap(value) ? value : {};
  } catch {
    return {};
  }
}
