/** Rules about parts of a config without the expected effect. */

import { DEFAULT_PROFILE } from '../../base/names.ts';
import { isBlank } from '../../base/text.ts';
import type { ProfilePlan, RouteConfig, TargetBinding, TargetPlan } from '../../schemas/generated/types.ts';
import { EMPTY_PLACEHOLDER, readPlaceholders } from '../config/grammar.ts';
import type { ExtraValue, RouteTarget } from '../config/route-keys.ts';
import { namedTargets, routeKey, THREAD_KEYS, targetNamed } from '../config/route-keys.ts';
import { needsChat, targetEntries } from '../config/target-entries.ts';
import { linearRegex } from '../globs/linear-glob.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import { oneOf } from '../text/suggest.ts';
import type { Reported, Reporter, RouteMode, RouteScope } from '../views/views.ts';
import type { Receiver } from './support/receivers.ts';
import { deliverPath, deliveryRule, deliveryTargets, STORING_TARGETS } from './support/receivers.ts';
import { hasOwnProfile, rule } from './support/rule.ts';

/** An address that its target cannot take (§4.4). */
export const addressForm = deliveryRule('address-form', checkAddresses, {
  profile({ config, scope: { table } }, report) {
    for (const [written, { home_channel: home }] of targetEntries(config)) {
      const plan = table.targets[targetNamed(table.target_names, written) ?? ''];
      if (plan === undefined || home === undefined || parseSecretRef(String(home), '').kind !== 'literal') continue;
      const flaw = flawOf(written, plan, ['chat_id', String(home), true]);
      if (flaw !== null) report({ path: ['platforms', written, 'home_channel'], at: 'value', ...flaw });
    }
  },
});

function checkAddresses({ config, profile, scope, hasPayload, report }: Receiver): void {
  for (const { name, plan, extra } of deliveryTargets(config, scope.table)) {
    for (const [key, { text, path }] of extra) {
      // A text for people, whose form the target does not check, may contain braces.
      const isTitle = key !== 'chat_id' && plan.address.some(({ name, pattern }) => name === key && pattern === null);
      const [empty] = (isTitle ? null : EMPTY_PLACEHOLDER.exec(text)) ?? [];
      const [field] = hasPayload ? [] : readPlaceholders(text);
      const unfilled = field === undefined ? empty : text.slice(field.offset, field.offset + field.length);
      if (unfilled !== undefined) {
        const message = `no event has a value for \`${unfilled}\`: every delivery to this address fails`;
        const hint = hasPayload ? 'write the path of a value between the braces' : 'write a fixed value here';
        report({ path: ['deliver_extra', ...path], at: 'value', message, hint });
        continue;
      }
      const binding = profile?.targets[plan.name];
      const flaw = flawOf(name, plan, [key, text, isNeeded(plan, key, extra, binding)], binding);
      // The lowering reports invalid placeholders.
      if (!/[{}]/.test(text) && flaw !== null) report({ path: ['deliver_extra', ...path], at: 'value', ...flaw });
    }
  }
}

type Extra = ReadonlyMap<string, ExtraValue>;

/** Whether the target sends nothing without a value for this key; `http` has a placeholder of its URL for each. */
function isNeeded(plan: TargetPlan, key: string, extra: Extra, binding?: TargetBinding): boolean {
  const isUrl = plan.variants.some(({ webhook }) => webhook !== undefined);
  const isRequired = plan.address.some(({ name, required }) => name === key && (required || isUrl));
  if (isRequired || key !== 'chat_id' || binding === undefined) return isRequired;
  const inThread = THREAD_KEYS.some((each) => !isBlank(extra.get(each)?.text ?? ''));
  return needsChat(plan, binding, inThread);
}

type Written = readonly [key: string, text: string, isNeeded: boolean];

/** What is wrong with a value; null if nothing. Each variant counts, unless the binding names one. */
function flawOf(
  target: string,
  plan: TargetPlan,
  [key, text, isNeeded]: Written,
  binding?: TargetBinding,
): Pick<Reported, 'message' | 'hint'> | null {
  const isMissing = isNeeded && isBlank(text);
  const variants = plan.variants.filter((variant) => binding === undefined || variant.name === binding.variant);
  const forms = (variants.length === 0 ? [plan] : variants).map(
    ({ address }) => address.find(({ name }) => name === (THREAD_KEYS.includes(key) ? 'thread' : key))?.pattern ?? null,
  );
  if (!isMissing && (text === '' || forms.some((form) => form === null || linearRegex(form).matches(text))))
    return null;
  const message = `\`${target}\` does not accept the address ${JSON.stringify(text)}: every delivery to it fails`;
  return { message, hint: `the form is ${forms[0] ?? 'any text'}; docs/targets.md explains where to find it` };
}

/** A delivery without a chat (§4.4). */
export const missingAddress = deliveryRule('missing-address', checkChats);

function checkChats({ config, profile, scope, report }: Receiver): void {
  for (const { name, index, plan, extra } of deliveryTargets(config, scope.table)) {
    const binding = profile?.targets[plan.name];
    if (binding === undefined || hasHome(binding) || extra.has('chat_id')) continue;
    if (!isNeeded(plan, 'chat_id', extra, binding)) continue;
    const message = `\`${name}\` has no chat to send to: neither \`deliver_extra.chat_id\` nor a home channel is set`;
    const hint = `set \`platforms.${name}.home_channel\`, or \`chat_id\` here`;
    report({ path: deliverPath(index), at: 'value', message, hint });
  }
}

/** Whether a home channel is set, as text or as a reference. */
const hasHome = (binding: TargetBinding): boolean =>
  binding.home_channel !== null || Object.hasOwn(binding.credentials, 'home_channel');

/** A key without effect. */
export const noEffect = rule('no-effect', {
  route(route, report) {
    // Two modes at once are an error, so the applicable keys are unknown.
    if (route.mode === 'cron' && route.config.deliver_only === true) return;
    for (const [key, value] of Object.entries(route.config)) {
      const pinned = key === 'auth' && route.config.source !== undefined ? PINNED : undefined;
      const reason = reasonAgainst(key, route.mode) ?? pinned ?? withoutStatus(key, route.config);
      if (reason === undefined || value === false) continue;
      report({ path: [key], at: 'key', message: `\`${key}\` has no effect here: ${reason}` });
    }
  },
});

/** Why the route has no status. */
function withoutStatus(key: string, { coalesce, status_url }: RouteConfig): string | undefined {
  if (key === 'status_answer' && status_url !== true) return '`status_answer` needs `status_url: true`';
  if (coalesce === undefined || (key !== 'status_url' && key !== 'status_answer')) return undefined;
  return 'the events of a coalesce group share the run of the last event';
}

const PINNED = '`source` already defines how the sender signs';

/** Why the key has no effect in this mode; undefined if it has one. */
const reasonAgainst = (key: string, mode: RouteMode): string | undefined =>
  mode === 'agent' ? undefined : routeKey(key)?.[mode];

/** An answer that is delivered to a target that needs more than a text. */
export const outputOnlyTarget = deliveryRule('output-only-target', check);

function check({ config, scope, report }: Receiver): void {
  for (const { name, index, plan, extra } of deliveryTargets(config, scope.table)) {
    const lacking = (plan.content ?? []).filter(
      (field) => field.required && field.name !== 'text' && !extra.has(field.name),
    );
    if (lacking.length === 0) continue;
    const fields = oneOf(
      lacking.map((field) => field.name),
      'and',
    );
    const fixed = lacking.every((field) => plan.address.some((key) => key.name === field.name));
    const message = `\`${name}\` needs ${fields}, which an answer does not have: every delivery to it fails`;
    const hint = `use it in \`outputs\`, where an agent hands over ${fields}${fixed ? `, or set ${fields} in \`deliver_extra\`` : ''}`;
    report({ path: deliverPath(index), at: 'value', message, hint });
  }
}

/** A target that is not enabled (§4.4). */
export const targetNotEnabled = deliveryRule('target-not-enabled', ({ config, profile, route, scope, report }) => {
  if (profile === null || (route !== null && hasOwnProfile(route))) return;
  checkEnabled(namedTargets(config.deliver, scope.table.target_names), profile, scope, report);
});

/** @param targets targets of a route or job of the profile */
export function checkEnabled(
  targets: readonly RouteTarget[],
  profile: ProfilePlan,
  scope: Pick<RouteScope, 'table' | 'invalidNames'>,
  report: Reporter,
): void {
  const { target_names: names } = scope.table;
  const where = profile.home === '' ? '' : ` of the profile \`${profile.name}\``;
  for (const { name, index, target } of targets) {
    if (target === null || Object.hasOwn(profile.targets, target)) continue;
    if (scope.invalidNames.has(`target:${target}`)) continue;
    const message = `the target \`${name}\` is not enabled: every delivery to it fails`;
    const plan = scope.table.targets[target];
    const shared = plan?.platform === undefined ? undefined : scope.table.targets[plan.platform];
    // The entry of all targets of a service: `github` for `github_labels`.
    const common = Object.keys(names).find((each) => names[each] === plan?.platform && target.startsWith(`${each}_`));
    const entry = profile.targets[shared?.name ?? '']?.label ?? common ?? shared?.name;
    const hint =
      shared === undefined
        ? `set \`platforms.${name}.enabled: true\` in the config${where}, with its credentials`
        : `set ${requiredSettings(plan)} under \`platforms.${entry}\` in the config${where}`;
    report({ path: deliverPath(index), at: 'value', message, hint });
  }
}

/** The required settings of the target, or of each variant. */
function requiredSettings(plan: TargetPlan | undefined): string {
  const required = (plan?.settings ?? []).flatMap(({ name, required }) => (required ? [name] : []));
  const ways = (plan?.variants ?? []).map(({ needs }) => [...new Set([...required, ...needs])]);
  return ways.map((names) => names.map((name) => `\`${name}\``).join(' and ')).join(', or ');
}

/** A route that no request can reach (§5.4). */
export const unreachableRoute = rule('unreachable-route', {
  route(route, report) {
    if (route.profile === DEFAULT_PROFILE || route.scope.table.gateway.multiplex_profiles) return;
    const message = `no request reaches this route: it belongs to the profile \`${route.profile}\`, and without \`gateway.multiplex_profiles\` only the default profile is served`;
    const hint = 'set `gateway.multiplex_profiles: true`, or remove `profile`';
    report({ path: ['profile'], at: 'value', message, hint });
  },
});

/** A job without an agent, whose prompt becomes the message. */
export const instructionsSent = rule('instructions-sent', {
  job({ config, profile, scope }, report) {
    if (config.agent !== undefined || profile.agent.kind !== 'preview') return;
    const chats = deliveryTargets(config, scope.table).filter(({ plan }) => !STORING_TARGETS.has(plan.name));
    if (chats.length === 0) return;
    const to = oneOf(
      chats.map(({ name }) => name),
      'and',
    );
    const message = `there is no agent: the prompt itself goes to ${to}`;
    const hint = 'add `agent` at the top of the file, or `agent: none` here if the prompt is the message';
    report({ path: [], at: 'key', message, hint });
  },
});
