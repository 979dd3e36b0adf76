/**
 * The deliveries that rules about `deliver` check, of routes, jobs and the gateway itself, with targets and addresses.
 */
import { DEFAULT_PROFILE } from '../../../base/names.ts';
import type { ProfilePlan, TargetPlan } from '../../../schemas/generated/types.ts';
import type { DeliveryConfig, ExtraValue, WrittenTarget } from '../../config/route-keys.ts';
import { extraOf, JOB_DELIVERIES, namedTargets, targetNamed } from '../../config/route-keys.ts';
import type { TableContent } from '../../config/settings.ts';
import type { NodePath, Problem } from '../../diagnostics/diagnostic.ts';
import { inside } from '../../diagnostics/diagnostic.ts';
import type { RuleId } from '../../diagnostics/rule.ts';
import { flowText } from '../../text/plain-data.ts';
import type { Checks, ConfigView, JobView, Reporter, RouteScope, RouteView, ViewRule } from '../../views/views.ts';
import { FIELDS } from './built/address-names.ts';
import { rule } from './rule.ts';

/** A place with a `deliver`: a route, a job, or the gateway's own messages. */
export interface Receiver {
  readonly config: DeliveryConfig;
  readonly scope: RouteScope;
  /** Null if it is not in the table. */
  readonly profile: ProfilePlan | null;
  /** Null if there is no payload. */
  readonly route: RouteView | null;
  /** Whether an event fills placeholders; false for jobs and for messages of the gateway. */
  readonly hasPayload: boolean;
  /** Names that are allowed although they are not targets (`origin`). */
  readonly words: readonly string[];
  /** Reports with paths relative to `config`. */
  readonly report: Reporter;
}

/** A rule about every delivery. A `cron_job` route delivers through its job. */
export const deliveryRule = (
  id: RuleId,
  check: (to: Receiver) => void,
  further: Pick<Checks, 'profile'> = {},
): ViewRule =>
  rule(id, {
    route(view, report) {
      onFailure(view, view.profilePlan, true, report).forEach(check);
      const { config, scope, profilePlan: profile } = view;
      if (view.mode !== 'cron') check({ config, scope, profile, route: view, hasPayload: true, words: [], report });
    },
    job(view, report) {
      onFailure(view, view.profile, false, report).forEach(check);
      const { config, scope, profile } = view;
      check({ config, scope, profile, route: null, hasPayload: false, words: JOB_DELIVERIES, report });
    },
    config(view, report) {
      gatewayReceivers(view, report).forEach(check);
    },
    ...further,
  });

const onFailure = (
  { config: { on_failure: config }, scope }: RouteView | JobView,
  profile: ProfilePlan | null,
  hasPayload: boolean,
  report: Reporter,
): readonly Receiver[] =>
  config === undefined
    ? []
    : [
        {
          config,
          scope,
          profile,
          route: null,
          hasPayload,
          words: [],
          report: (problem) => report(inside(['on_failure'], problem)),
        },
      ];

/** `gateway.alerts` and `gateway.approvals`, which are sent as the profile `default`. */
function gatewayReceivers({ config: { gateway = {} }, scope }: ConfigView, report: Reporter): readonly Receiver[] {
  const profile = scope.table.profiles[DEFAULT_PROFILE] ?? null;
  return (['alerts', 'approvals'] as const).flatMap((key) => {
    const config = gateway[key];
    if (config === undefined) return [];
    const to = { config, scope, profile, route: null, hasPayload: false, words: [] };
    return { ...to, report: (problem) => report(inside(['gateway', key], problem)) };
  });
}

/** Targets that only store the text. */
export const STORING_TARGETS: ReadonlySet<string> = new Set(['log', 'local']);

/** The path of `deliver`, or of one item of its list. */
export const deliverPath = (index: number | null): NodePath => (index === null ? ['deliver'] : ['deliver', index]);

/** An existing target of a route or job, with its values from `deliver_extra`. */
export interface DeliveryTarget extends WrittenTarget {
  readonly plan: TargetPlan;
  readonly extra: ReadonlyMap<string, ExtraValue>;
}

/** The targets of a route or job, without unknown ones. */
export function deliveryTargets(config: DeliveryConfig, table: TableContent): readonly DeliveryTarget[] {
  return namedTargets(config.deliver, table.target_names).flatMap(
    ({ target, ...written }): readonly DeliveryTarget[] => {
      const plan = target === null ? undefined : table.targets[target];
      if (plan === undefined) return [];
      return [{ ...written, plan, extra: extraOf(config.deliver_extra ?? {}, plan, table.target_names) }];
    },
  );
}

const COMMON_NAMES: Readonly<Record<string, string>> = FIELDS;

/** The field that an unknown key of `deliver_extra` means, or null. */
export function meantField(key: string, known: readonly string[]): string | null {
  const meant = Object.hasOwn(COMMON_NAMES, key) ? COMMON_NAMES[key] : undefined;
  return meant !== undefined && known.includes(meant) ? meant : null;
}

/** Returns the correct spelling; null if the text before the colon is not a target. */
export function targetWithAddress(
  { name, index }: WrittenTarget,
  { deliver, deliver_extra }: DeliveryConfig,
  { targets, target_names: names }: TableContent,
): Pick<Problem, 'message' | 'fix' | 'fixAt'> | null {
  const [, target = '', address = ''] = /^([\w-]+):\s*(\S+)$/.exec(name) ?? [];
  const plan = targets[targetNamed(names, target) ?? ''];
  const keys = plan === undefined ? null : readAddress(plan, address);
  if (keys === null) return null;
  const isList = typeof deliver === 'object';
  const text = flowText(isList ? deliver.map((each, place) => (place === index ? target : each)) : target);
  const extra = `deliver_extra: ${flowText(isList ? { [target]: keys } : keys)}`;
  return {
    message: `\`deliver\` names targets without an address: write \`deliver: ${text}\` and \`${extra}\``,
    ...(deliver_extra === undefined ? { fix: { kind: 'flow', text, andKey: extra }, fixAt: ['deliver'] } : {}),
  };
}

/** Returns the address as keys of `deliver_extra`; null if the target has no such address. */
function readAddress({ address: fields }: TargetPlan, text: string): Readonly<Record<string, string>> | null {
  const names = fields.map(({ name }) => name);
  const [, repo, number] = /^([\w.-]+\/[\w.-]+)#(\d+)$/.exec(text) ?? [];
  if (names.includes('pr_number'))
    return repo === undefined || number === undefined ? null : { repo, pr_number: number };
  if (!names.includes('chat_id')) return null;
  const [, chat, thread] = names.includes('thread') ? (/^(-?\d+):(\d+)$/.exec(text) ?? []) : [];
  return chat === undefined || thread === undefined ? { chat_id: text } : { chat_id: chat, thread_id: thread };
}
