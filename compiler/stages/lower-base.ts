/** Lowers everything except routes: creates the table that static and dynamic routes are checked and lowered against. */

import type { Config, JobPlan, ProfilePlan } from '../../schemas/generated/types.ts';
import type { EffectiveSettings, Flags, Overrides, TableContent } from '../config/settings.ts';
import type { Problem } from '../diagnostics/diagnostic.ts';
import { lowerGateway, lowerServer } from '../lower/gateway.ts';
import type { Endpoints } from '../lower/http-target.ts';
import { lowerEndpoints, withEndpoints } from '../lower/http-target.ts';
import { lowerProfile } from '../lower/profile.ts';
import { lowerSources } from '../lower/sources.ts';
import { lowerTargets } from '../lower/targets.ts';
import { applyRules } from '../rules/support/rule.ts';
import type { Placer, Places, Report } from '../source/find-place.ts';
import type { MachineFacts, RouteScope } from '../views/views.ts';
import type { CatalogItem, LoadedCatalog } from './catalog.ts';
import type { CheckedProfile } from './check-config.ts';
import { compileJob } from './compile-route.ts';

interface BaseInput {
  readonly config: Config;
  readonly tree: Places;
  readonly settings: EffectiveSettings;
  readonly overrides: Overrides;
  readonly flags: Flags;
  readonly catalog: LoadedCatalog;
  readonly blueprints: TableContent['blueprints'];
  /** `default` first. */
  readonly profiles: readonly CheckedProfile[];
  readonly facts: MachineFacts;
  readonly rules: RouteScope['rules'];
  readonly payloads: RouteScope['payloads'];
  readonly placer: Placer;
}

const DEFAULT_APP_SCHEME = 'hookwright';

/** Returns a scope whose table is complete except for routes. */
export function lowerBase(input: BaseInput, report: Report): RouteScope {
  const { config } = input;
  const invalidNames = new Set(input.profiles.flatMap((profile) => [...profile.invalidNames]));
  const lowering: Lowering = { input, report, invalidNames };
  const senders = lowerSenders(lowering);
  const endpoints = lowerEndpoints(input.profiles);
  const receivers = lowerReceivers(endpoints, lowering);
  const gateway = lowerGateway(config.gateway ?? {}, receivers);
  report.addProblems(gateway.problems, input.tree, ['gateway']);
  const known = { gateway: gateway.plan, ...receivers };
  const profiles = lowerProfiles(known, endpoints, lowering);
  const content: TableContent = {
    server: lowerServer(config, input.settings, input.overrides),
    app_scheme: input.flags.app_scheme ?? config.app_scheme ?? DEFAULT_APP_SCHEME,
    ...senders,
    ...known,
    profiles: Object.fromEntries(profiles.map((plan) => [plan.name, plan])),
    jobs: {},
    blueprints: input.blueprints,
    routes: {},
  };
  const scope: RouteScope = {
    table: content,
    facts: input.facts,
    rules: input.rules,
    payloads: input.payloads,
    invalidNames,
  };
  for (const profile of input.profiles) checkProfile(profile, scope, report);
  const jobs = input.profiles.flatMap((profile) => lowerJobs(profile, scope, lowering));
  return { ...scope, table: { ...content, jobs: Object.fromEntries(jobs.map((job) => [job.id, job])) } };
}

interface Lowering {
  readonly input: BaseInput;
  readonly report: Report;
  /** Collects the names of entries with errors, so that references to them are not reported as unknown. */
  readonly invalidNames: Set<string>;
}

function lowerSenders({ input: { catalog }, report, invalidNames }: Lowering) {
  const { schemes, defaults, sources, facts, problems } = lowerSources(valuesOf(catalog.sources));
  reportEntries(catalog.sources, problems, { report, kind: 'source', invalidNames });
  return { schemes, ...defaults, sources, source_facts: facts };
}

function lowerReceivers(endpoints: Endpoints, { input, report, invalidNames }: Lowering) {
  const { catalog } = input;
  const { targets, names, problems } = lowerTargets(valuesOf(catalog.targets));
  reportEntries(catalog.targets, problems, { report, kind: 'target', invalidNames });
  // An error in a target affects all of its names.
  for (const [name, target] of Object.entries(names)) {
    if (invalidNames.has(`target:${name}`)) addNames(invalidNames, target, names);
  }
  return { targets: withEndpoints(targets, endpoints), target_names: names, toolsets: { ...catalog.toolsets } };
}

function lowerProfiles(
  known: Parameters<typeof lowerProfile>[1],
  endpoints: Endpoints,
  { input, report, invalidNames }: Lowering,
): ProfilePlan[] {
  return input.profiles.map((profile) => {
    const { plan, problems, unusable } = lowerProfile(profile, known, endpoints);
    report.addProblems(problems, profile.tree);
    for (const target of unusable) addNames(invalidNames, target, known.target_names);
    return plan;
  });
}

/** Marks all names of a target whose error has been reported, so that routes which use it get no second error. */
function addNames(invalidNames: Set<string>, target: string, names: Readonly<Record<string, string>>): void {
  for (const [name, canonical] of Object.entries(names)) if (canonical === target) invalidNames.add(`target:${name}`);
}

function valuesOf<T>(entries: ReadonlyMap<string, CatalogItem<T>>): ReadonlyMap<string, T> {
  return new Map([...entries].map(([name, { value }]) => [name, value]));
}

interface EntryReport {
  readonly report: Report;
  readonly kind: 'source' | 'target';
  readonly invalidNames: Set<string>;
}

function reportEntries<T extends { readonly aliases?: readonly string[] }>(
  entries: ReadonlyMap<string, CatalogItem<T>>,
  problems: ReadonlyMap<string, readonly Problem[]>,
  { report, kind, invalidNames }: EntryReport,
): void {
  for (const [name, found] of problems) {
    const entry = entries.get(name);
    if (entry === undefined) continue;
    if (entry.written === null) throw new Error(`the shipped ${kind} \`${name}\` is invalid: ${found[0]?.message}`);
    report.addProblems(found, entry.written.tree, entry.written.base);
    for (const known of [name, ...(entry.value.aliases ?? [])]) invalidNames.add(`${kind}:${known}`);
  }
}

function checkProfile({ name, config, tree }: CheckedProfile, scope: RouteScope, report: Report): void {
  report.addProblems(applyRules(scope.rules, 'profile', { name, config, scope }), tree);
}

function lowerJobs(
  { name: profileName, config, tree }: CheckedProfile,
  scope: RouteScope,
  { input, report, invalidNames }: Lowering,
): JobPlan[] {
  const profile: ProfilePlan | undefined = scope.table.profiles[profileName];
  if (profile === undefined) return [];
  return Object.entries(config.jobs ?? {}).flatMap(([name, job]) => {
    const base = ['jobs', name];
    const at = input.placer.placeOf(tree, base);
    const { plan, problems } = compileJob({ name, config: job, profile, at }, scope);
    report.addProblems(problems, tree, base);
    if (plan === null) invalidNames.add(`job:${name}`);
    return plan ?? [];
  });
}
