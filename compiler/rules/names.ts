/** Rules about unknown names. */

import { DEFAULT_PROFILE, NO_AGENT } from '../../base/names.ts';
import type { ProfilePlan } from '../../schemas/generated/types.ts';
import type { KnownToolsets } from '../config/agents.ts';
import { writtenAgents } from '../config/agents.ts';
import { addressKeys, targetNamed, writtenTargets } from '../config/route-keys.ts';
import { targetEntries } from '../config/target-entries.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import { flowText, isPlainMap } from '../text/plain-data.ts';
import { didYouMean, oneOf, renameFix } from '../text/suggest.ts';
import type { MachineFacts, Reported, Reporter, RouteScope, RouteView } from '../views/views.ts';
import { findJobs, jobsOf } from '../views/views.ts';
import { checkEnabled } from './effect.ts';
import type { Receiver } from './support/receivers.ts';
import { deliverPath, deliveryRule, deliveryTargets, meantField, targetWithAddress } from './support/receivers.ts';
import { scriptState } from './support/route-facts.ts';
import { hasOwnProfile, rule } from './support/rule.ts';

/** A toolset that is forbidden for webhook runs (§2.1). */
export const barredToolset = rule('barred-toolset', {
  route(route, report) {
    if (route.mode !== 'agent') return;
    checkNames(route.config.toolsets, ['toolsets'], route.scope.table.toolsets, report);
  },
  profile({ config, scope }, report) {
    checkNames(config.platform_toolsets?.webhook, ['platform_toolsets', 'webhook'], scope.table.toolsets, report);
  },
});

function checkNames(names: readonly string[] = [], path: NodePath, known: KnownToolsets, report: Reporter): void {
  for (const [index, name] of names.entries()) {
    if (!Object.hasOwn(known, name) || known[name] === true) continue;
    const message = `the toolset \`${name}\` is barred from webhook runs and is dropped`;
    report({ path: [...path, index], at: 'value', message });
  }
}

/** A missing part of a delivery's address (§4.4). */
export const missingDeliverExtra = deliveryRule('missing-deliver-extra', checkKeys);

function checkKeys({ config, scope, route, hasPayload, report }: Receiver): void {
  const written = Object.keys(config.deliver_extra ?? {});
  for (const { name, plan, extra } of deliveryTargets(config, scope.table)) {
    // Placeholders in the URL of `http` are payload fields, if there is a payload.
    const isOwn = plan.variants.some(({ webhook }) => webhook !== undefined) && !hasPayload;
    const missing = plan.address
      .filter((field) => (field.required || isOwn) && !extra.has(field.name))
      .map((field) => field.name);
    const absent = missing.filter((field) => {
      const key = written.find((each) => meantField(each, [field]) !== null);
      if (key === undefined) return true;
      const message = `\`${name}\` needs \`deliver_extra.${field}\`: rename \`${key}\``;
      report({ path: ['deliver_extra', key], at: 'key', message, fix: { kind: 'rename', text: field } });
      return false;
    });
    if (absent.length > 0) report(withoutKeys(name, absent, config.deliver_extra !== undefined, route));
  }
}

/** Which repository or chat is meant is the author's choice, so it is only a hint. */
function withoutKeys(target: string, fields: readonly string[], hasExtra: boolean, route: RouteView | null): Reported {
  const message = `\`${target}\` needs ${oneOf(
    fields.map((field) => `deliver_extra.${field}`),
    'and',
  )}`;
  const usual = usualAddresses(fields, route);
  const pairs = usual === null ? '' : flowText(usual);
  const example = hasExtra ? pairs.slice(2, -2) : `deliver_extra: ${pairs}`;
  const hint =
    usual === null ? 'use a template with fields of the payload, or fixed text' : `write, for example, \`${example}\``;
  return { path: hasExtra ? ['deliver_extra'] : [], at: 'key', message, hint };
}

interface UsualAddress {
  /** Payload paths, best first. */
  readonly paths: readonly string[];
  /** An example for jobs, which have no payload. */
  readonly fixed: string;
}

const USUAL: Readonly<Record<string, UsualAddress>> = {
  repo: { paths: ['repository.full_name', 'project.path_with_namespace'], fixed: 'owner/name' },
  pr_number: { paths: ['number', 'pull_request.number', 'issue.number', 'object_attributes.iid'], fixed: '42' },
};

/** Payload fields that every event of the route has, else examples. Null if there is no usual value for one of the fields. */
function usualAddresses(names: readonly string[], route: RouteView | null): Readonly<Record<string, string>> | null {
  const values: Record<string, string> = {};
  for (const name of names) {
    const usual = Object.hasOwn(USUAL, name) ? USUAL[name] : undefined;
    if (usual === undefined) return null;
    const path = usual.paths.find((each) => route?.scope.payloads?.isAlwaysSent(route, each.split('.')) === true);
    values[name] = route === null ? usual.fixed : `{${path ?? usual.paths[0]}}`;
  }
  return values;
}

/** A route whose profile lacks something that the route needs. There is no fallback to another profile (§5.4). */
export const profileIncomplete = rule('profile-incomplete', {
  route(route, report) {
    const { profile, profilePlan, mode, config, scope } = route;
    if (profilePlan === null || !hasOwnProfile(route)) return;
    const about: Reporter = (problem) => {
      const message = `${problem.message}; profile \`${profile}\` uses only its own targets, scripts and skills`;
      report({ ...problem, message });
    };
    if (mode !== 'cron') checkEnabled(route.targets, profilePlan, scope, about);
    if (config.script !== undefined && scriptState(route) === 'missing') {
      const message = `the script \`${config.script}\` does not exist in profiles/${profile}/scripts/`;
      about({ path: ['script'], at: 'value', message });
    }
    if (mode === 'agent') checkSkills(config.skills, profilePlan.home, scope.facts, about);
  },
});

/** An agent that does not exist. */
export const unknownAgent = rule('unknown-agent', {
  route({ config, profilePlan, scope }, report) {
    checkName(config.agent, profilePlan, scope, report);
  },
  job({ config, profile, scope }, report) {
    checkName(config.agent, profile, scope, report);
  },
});

function checkName(
  name: string | undefined,
  profile: ProfilePlan | null,
  { invalidNames }: Pick<RouteScope, 'invalidNames'>,
  report: Reporter,
): void {
  // A profile that does not exist is reported by another rule.
  if (name === undefined || name === NO_AGENT || profile === null) return;
  if (Object.hasOwn(profile.agents, name) || invalidNames.has(`agent:${name}`)) return;
  const known = Object.keys(profile.agents);
  const message = `there is no agent \`${name}\`${didYouMean(name, [...known, NO_AGENT])}`;
  const hint =
    known.length === 0
      ? `define it under \`agents\`, or remove this key to run the default agent, \`agent\` at the top level`
      : `agents of this profile: ${oneOf(known, 'and')}; \`${NO_AGENT}\`: the prompt is the message; without this key: the default agent`;
  report({ path: ['agent'], at: 'value', message, hint, ...renameFix(name, [...known, NO_AGENT]) });
}

/** A key of an address that no target uses. */
export const unknownDeliverExtra = deliveryRule('unknown-deliver-extra', checkExtraKeys);

function checkExtraKeys({ config, scope, words, report }: Receiver): void {
  const written = writtenTargets(config.deliver);
  const targets = deliveryTargets(config, scope.table);
  const open = written.filter(({ name }) => words.includes(name));
  // An unknown target, or one whose own mistakes are reported, may accept any key.
  const isUnknown = written.some(({ name }) => scope.invalidNames.has(`target:${name}`));
  if (isUnknown || targets.length + open.length < written.length || config.deliver_extra === undefined) return;
  const required = targets.flatMap(({ plan }) => plan.address.filter((field) => field.required));
  const needed = required.map(({ name }) => name).filter((name) => !Object.hasOwn(config.deliver_extra ?? {}, name));
  // `origin` may be any target.
  const all = (open.length > 0 ? Object.values(scope.table.targets) : targets.map(({ plan }) => plan)).flatMap(
    addressKeys,
  );
  for (const [key, value] of Object.entries(config.deliver_extra)) {
    // `missing-deliver-extra` reports a required field under another name.
    if (meantField(key, needed) !== null) continue;
    if (!isPlainMap(value)) {
      if (!all.includes(key)) report(unknown([key], all, config.deliver_extra));
      continue;
    }
    const target = targetNamed(scope.table.target_names, key);
    const own = targets.find(({ plan }) => plan.name === target);
    if (own === undefined) {
      const groups = written.map(({ name }) => name);
      report(unknown([key], groups));
      continue;
    }
    const keys = addressKeys(own.plan);
    for (const name of Object.keys(value)) if (!keys.includes(name)) report(unknown([key, name], keys, value));
  }
}

function unknown(
  path: readonly string[],
  known: readonly string[],
  written: Readonly<Record<string, unknown>> = {},
): Reported {
  const key = path.at(-1) ?? '';
  const at = { path: ['deliver_extra', ...path], at: 'key' } as const;
  const message = `no target of this entry uses \`deliver_extra.${path.join('.')}\``;
  const meant = meantField(key, known);
  if (meant !== null && !Object.hasOwn(written, meant))
    return { ...at, message: `${message}: it is called \`${meant}\``, fix: { kind: 'rename', text: meant } };
  const guess = didYouMean(key, known);
  if (guess !== '') return { ...at, message: `${message}${guess}` };
  const hint = known.length === 0 ? 'this target has no such keys' : `valid keys: ${oneOf([...new Set(known)], 'and')}`;
  return { ...at, message, hint };
}

/** A job that does not exist (§2.1). */
export const unknownJob = rule('unknown-job', {
  route(route, report) {
    const { cron_job } = route.config;
    if (cron_job === undefined || route.scope.invalidNames.has(`job:${cron_job}`)) return;
    const found = findJobs(route, cron_job);
    if (found.length === 1) return;
    const names = jobsOf(route).map(({ name }) => name);
    const at = { path: ['cron_job'], at: 'value' } as const;
    if (found.length > 1) {
      report({ ...at, message: `${found.length} jobs are called \`${cron_job}\`; name one by its id` });
      return;
    }
    const message = `there is no job \`${cron_job}\`${didYouMean(cron_job, names)}`;
    const hint =
      names.length === 0
        ? 'define it under `jobs`, with a `schedule` and a `prompt`'
        : `jobs of this profile: ${oneOf(names, 'and')}`;
    report({ ...at, message, hint, ...renameFix(cron_job, names) });
  },
});

/** A profile that does not exist (§5.4). */
export const unknownProfile = rule('unknown-profile', {
  route(route, report) {
    const { profile, scope } = route;
    if (route.profilePlan !== null || !scope.table.gateway.multiplex_profiles) return;
    if (scope.invalidNames.has(`profile:${profile}`)) return;
    const known = Object.keys(scope.table.profiles);
    const message = `there is no profile \`${profile}\`${didYouMean(profile, known)}`;
    const hint = `a profile is a folder: \`<home_dir>/profiles/${profile}/\``;
    report({ path: ['profile'], at: 'value', message, hint, ...renameFix(profile, known) });
  },
});

/** A skill that does not exist on this machine. */
export const unknownSkill = rule('unknown-skill', {
  route(route, report) {
    if (route.mode !== 'agent' || route.profilePlan === null || hasOwnProfile(route)) return;
    checkSkills(route.config.skills, route.profilePlan.home, route.scope.facts, report);
  },
  job({ config, profile, scope }, report) {
    checkSkills(config.skills, profile.home, scope.facts, report);
  },
});

export function checkSkills(skills: readonly string[] = [], home: string, facts: MachineFacts, report: Reporter): void {
  for (const [index, skill] of skills.entries()) {
    if (facts.skill(home, skill)) continue;
    const message = `there is no skill \`${skill}\``;
    const hint = `a skill is a file: \`<profile home>/skills/${skill}/SKILL.md\``;
    report({ path: ['skills', index], at: 'value', message, hint });
  }
}

/** A source or signature scheme that does not exist. */
export const unknownSource = rule('unknown-source', {
  route(route, report) {
    const { source, auth = [] } = route.config;
    const { sources } = route.scope.table;
    const known = Object.keys(sources);
    const names = [
      ...(source === undefined ? [] : [{ name: source, path: ['source'] }]),
      ...auth.map((name, index) => ({ name, path: ['auth', index] })),
    ];
    for (const { name, path } of names) {
      if (Object.hasOwn(sources, name) || route.scope.invalidNames.has(`source:${name}`)) continue;
      const message = `there is no source \`${name}\`${didYouMean(name, known)}`;
      const hint = '`hookwright source list` shows them all';
      report({ path, at: 'value', message, hint, ...renameFix(name, known) });
    }
  },
});

/** A target that does not exist (§4.4). */
export const unknownTarget = deliveryRule('unknown-target', checkTargets, {
  profile({ name: profile, config, scope }, report) {
    const names = scope.table.target_names;
    const known = [...Object.keys(names), ...(profile === DEFAULT_PROFILE ? ['webhook'] : [])];
    for (const [name] of targetEntries(config)) {
      if (targetNamed(names, name) !== null || scope.invalidNames.has(`target:${name}`)) continue;
      const message =
        name === 'webhook'
          ? '`webhook` is not a target: one webhook server serves all profiles, and it is configured in the root config'
          : `there is no delivery target \`${name}\`${didYouMean(name, known)}`;
      report({ path: ['platforms', name], at: 'key', message, ...renameFix(name, known) });
    }
  },
});

const URL_HINT = 'a URL is not a target: name one (`slack`, `telegram`, …), and set it up under `platforms`';

function checkTargets({ config, scope, words, report }: Receiver): void {
  const names = scope.table.target_names;
  const known = [...Object.keys(names), ...words];
  for (const written of writtenTargets(config.deliver)) {
    const { name, index } = written;
    if (targetNamed(names, name) !== null || words.includes(name) || scope.invalidNames.has(`target:${name}`)) continue;
    const at = { path: deliverPath(index), at: 'value' } as const;
    const addressed = targetWithAddress(written, config, scope.table);
    if (addressed !== null) {
      report({ ...at, ...addressed });
      continue;
    }
    const message = `there is no delivery target \`${name}\`${didYouMean(name, known)}`;
    const isUrl = /^https?:\/\//.test(name) ? { hint: URL_HINT, sensitive: true } : {};
    report({ ...at, message, ...isUrl, ...renameFix(name, known) });
  }
}

/** A toolset that does not exist. */
export const unknownToolset = rule('unknown-toolset', {
  route(route, report) {
    if (route.mode === 'agent')
      checkToolsetNames(route.config.toolsets, ['toolsets'], route.scope.table.toolsets, report);
  },
  job({ config, scope }, report) {
    checkToolsetNames(config.toolsets, ['toolsets'], scope.table.toolsets, report);
  },
  profile({ config, scope }, report) {
    for (const [platform, names] of Object.entries(config.platform_toolsets ?? {})) {
      checkToolsetNames(names, ['platform_toolsets', platform], scope.table.toolsets, report);
    }
    for (const { path, config: agent } of writtenAgents(config)) {
      checkToolsetNames(agent.toolsets, [...path, 'toolsets'], scope.table.toolsets, report);
    }
  },
});

function checkToolsetNames(
  names: readonly string[] = [],
  path: NodePath,
  toolsets: KnownToolsets,
  report: Reporter,
): void {
  const known = Object.keys(toolsets);
  for (const [index, name] of names.entries()) {
    if (Object.hasOwn(toolsets, name)) continue;
    const message = `there is no toolset \`${name}\`; the name is dropped${didYouMean(name, known)}`;
    report({ path: [...path, index], at: 'value', message, ...renameFix(name, known) });
  }
}
