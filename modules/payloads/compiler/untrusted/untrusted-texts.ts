/** Finds text by outsiders in a route's prompt, what it can reach, and whether filters restrict its authors. */

import { agentPlan, agentToolsets, NO_AGENT } from '../../../../base/names.ts';
import { printPath } from '../../../../base/paths.ts';
import { readPlaceholders } from '../../../../compiler/config/grammar.ts';
import { EVENTS, keepsAll } from '../../../../compiler/config/route-keys.ts';
import type { RouteView } from '../../../../compiler/views/views.ts';
import { findJobs } from '../../../../compiler/views/views.ts';
import type { FilterConfig } from '../../../../schemas/generated/types.ts';
import type { Payloads } from '../payloads/payloads.ts';
import { payloadsOf } from '../payloads/payloads.ts';
import type { FieldReview } from '../shapes/field-review.ts';
import type { FormSet } from '../shapes/form-set.ts';
import type { Member, WrittenLeaf } from '../shapes/operators.ts';
import { listedValues, matchAll, membersOf, readLeaf } from '../shapes/operators.ts';
import { isUntrusted } from '../shapes/shape.ts';

/** An untrusted part of a prompt. */
export interface UntrustedPart {
  /** The placeholder as written; null for the default prompt, which contains the whole payload. */
  readonly placeholder: string | null;
  /** UTF-16 offset in the prompt. */
  readonly offset: number;
  /** Path of the free text that it is or contains; null if unknown. */
  readonly path: string | null;
  /** The review decision about that text, or null. */
  readonly review: FieldReview | null;
}

const DUMP = '{__raw__}';

/** Empty if the route is disabled or has no agent, or if payload shapes are unavailable, as in a running gateway. */
export function untrustedParts(route: RouteView): readonly UntrustedPart[] {
  const payloads = payloadsOf(route);
  if (payloads === null || route.config.enabled === false || !isRead(route)) return [];
  const { prompt } = route.config;
  if (prompt === undefined) return [{ placeholder: null, offset: 0, path: null, review: null }];
  const dump = prompt.indexOf(DUMP);
  const whole = dump < 0 ? [] : [{ placeholder: DUMP, offset: dump, path: null, review: null }];
  const fields = readPlaceholders(prompt).flatMap(({ path, offset, length }) => {
    const placeholder = prompt.slice(offset, offset + length);
    const isList = placeholder === EVENTS && keepsAll(route.config);
    const part = isList ? partInEach(route, payloads) : untrustedPart(route, payloads, path);
    return part === null ? [] : [{ ...part, placeholder, offset }];
  });
  return [...whole, ...fields];
}

/** The first untrusted part of an event in the list of a burst. */
function partInEach(route: RouteView, payloads: Payloads): Pick<UntrustedPart, 'path' | 'review'> | null {
  const { each = DUMP } = route.config.coalesce ?? {};
  if (each.includes(DUMP)) return { path: null, review: null };
  const parts = readPlaceholders(each).map(({ path }) => untrustedPart(route, payloads, path));
  return parts.find((part) => part !== null) ?? null;
}

/** Whether an agent reads the rendered prompt: the route's agent, or its job's. */
function isRead(route: RouteView): boolean {
  if (route.mode !== 'cron') return route.mode === 'agent';
  const [job] = findJobs(route, route.config.cron_job ?? '');
  return job === undefined || route.scope.table.jobs[job.id]?.agent !== NO_AGENT;
}

function untrustedPart(
  route: RouteView,
  payloads: Payloads,
  path: readonly string[],
): Pick<UntrustedPart, 'path' | 'review'> | null {
  if (path[0] === DUMP.slice(1, -1)) return null;
  const set = payloads.seenBy(route);
  const found = payloads.classOf(route, path);
  if (!isUntrusted(found.class)) return null;
  // A path that no event has is reported by another rule, and its placeholder is left unchanged in the prompt.
  if (set?.find(path).every(({ kind }) => kind === 'absent')) return null;
  const review = found.text?.review ?? null;
  // An object may contain texts by several authors.
  const isWhole = found.text?.path.length === path.length;
  if (set !== null && isWhole && isByTrustedAuthor(route.config.filters, set, path)) return null;
  return { path: found.text === null ? null : printPath(found.text.path), review };
}

/** The acting toolsets of a run: those of the route, or of the job that it triggers, without forbidden ones. */
export function actingToolsets(route: RouteView): readonly string[] {
  const payloads = payloadsOf(route);
  if (payloads === null) return [];
  const { toolsets: known, jobs } = route.scope.table;
  if (route.mode === 'cron') {
    const [job] = findJobs(route, route.config.cron_job ?? '');
    const plan = job === undefined ? undefined : jobs[job.id];
    return (plan?.toolsets ?? []).filter((name) => payloads.acts(name));
  }
  const { config, profilePlan } = route;
  const names = agentToolsets(config.toolsets ?? profilePlan?.toolsets ?? [], profilePlan, config.agent ?? null);
  return [...new Set(names)].filter((name) => known[name] !== false && payloads.acts(name));
}

/**
 * Checks each event form separately: a filter may list one author for issues and another for comments.
 *
 * @param set the forms that pass the filters
 * @param path path of the text
 */
function isByTrustedAuthor(filters: Filters | undefined, set: FormSet, path: readonly string[]): boolean {
  if (filters === undefined) return false;
  const found = set.find(path);
  return set.forms.every(({ event }, index) => {
    if (found[index]?.kind === 'absent') return true;
    const review = set.shape.review.find(event, path);
    return review !== null && (!isUntrusted(review.class) || isRequired(filters, set.pick([index]), review));
  });
}

/** @param form a set with one form */
function isRequired(filters: Filters, form: FormSet, { author = [], sender = [] }: FieldReview): boolean {
  if (author.length === 0 && sender.length === 0) return false;
  const { review } = form.shape;
  const bySender = sender.length > 0 && isBySender(filters, form, sender) ? review.sender : [];
  const fields = new Set([...author, ...bySender]);
  return requires(filters, form, (leaf, negated) => {
    const field = pathOf(leaf);
    return field !== null && fields.has(field) && isAllowList(leaf, negated, review.trustedValues(field));
  });
}

/** Null for headers, whose names may look like paths. */
const pathOf = ({ field }: WrittenLeaf): string | null => (field.in === 'header' ? null : printPath(field.path));

/** Whether the user who caused the event wrote the text: by the event form, or because only such actions pass the filters. */
function isBySender(filters: Filters, form: FormSet, sender: readonly string[]): boolean {
  const { shape, forms } = form;
  const [{ event, action } = { event: '', action: null }] = forms;
  if (sender.includes(event) || sender.includes(`${event}.${action}`)) return true;
  const field = shape.action?.join('.') ?? shape.review.action;
  const isSuchAction: IsEnough = (leaf, negated) => {
    const values = pathOf(leaf) === field ? listedValues(leaf, negated) : null;
    return values !== null && values.length > 0 && values.every((each) => sender.includes(`${event}.${each}`));
  };
  return action === null && field !== null && requires(filters, form, isSuchAction);
}

/** @param trusted values that identify a trusted author; null if the field contains names, so that any list of names is enough */
function isAllowList(leaf: WrittenLeaf, negated: boolean, trusted: readonly string[] | null): boolean {
  if (leaf.operator === 'in_file') return !negated && trusted === null;
  const values = listedValues(leaf, negated) ?? [];
  const isGood = (value: unknown): boolean =>
    trusted === null
      ? typeof value === 'number' || (typeof value === 'string' && value !== '')
      : trusted.includes(String(value));
  return values.length > 0 && values.every(isGood);
}

/** Decides whether filters match only if some given condition matches. */
export type Filters = FilterConfig | readonly FilterConfig[];

/** Whether a condition, or its negation if `negated`, is sufficient. */
type IsEnough = (leaf: WrittenLeaf, negated: boolean) => boolean;

/**
 * One member of `all` has to be sufficient; of `any`, every member that can match.
 *
 * @param forms the possible event forms; null if unknown, so that every member can match
 */
export const requires = (filters: Filters, forms: FormSet | null, isEnough: IsEnough): boolean =>
  membersOf(filters, []).some((member) => holdsOnlyIf(member, false, { forms, isEnough }));

interface Context {
  readonly forms: FormSet | null;
  readonly isEnough: IsEnough;
}

function holdsOnlyIf(member: Member, negated: boolean, context: Context): boolean {
  const { all, any, not } = member.config;
  const isEnough = (each: Member): boolean => holdsOnlyIf(each, negated, context);
  if (not !== undefined) return joined(membersOf(not, []), !negated, (each) => holdsOnlyIf(each, !negated, context));
  if (all !== undefined) return joined(membersOf(all, []), negated, isEnough);
  if (any !== undefined) {
    const members = membersOf(any, []);
    return joined(negated ? members : members.filter((each) => canHold(each, context)), !negated, isEnough);
  }
  const leaf = readLeaf(member.config, []);
  return leaf !== null && context.isEnough(leaf, negated);
}

/** @param alternatives whether an event needs to match only one of the members */
function joined(members: readonly Member[], alternatives: boolean, isEnough: (member: Member) => boolean): boolean {
  return alternatives ? members.length > 0 && members.every(isEnough) : members.some(isEnough);
}

const canHold = (member: Member, { forms }: Context): boolean =>
  forms === null || matchAll(forms, [member]).some((match) => match !== 'never');

/** Describes a part: "`{issue.body}` (written by the author of the issue)". For an object, also names the text in it. */
export function describePart({ placeholder, path, review }: UntrustedPart): string {
  if (placeholder === null) return 'the whole payload, which the default prompt shows,';
  const shown = `\`${placeholder}\``;
  if (placeholder === '{__raw__}') return `${shown} (the whole payload)`;
  if (path === null) return `${shown} (unknown content, possibly written by a stranger)`;
  const inside = placeholder === `{${path}}` ? '' : `with \`${path}\`, `;
  return `${shown} (${inside}${review?.by === undefined ? 'free text' : `written by ${review.by}`})`;
}

/** Whether the part is the whole payload, by a placeholder or through the default prompt. */
export const isWholePayload = ({ placeholder }: UntrustedPart): boolean =>
  placeholder === null || placeholder === '{__raw__}';

/** A route through which strangers' text reaches an agent, for rules about the agent. */
interface ReachedRoute {
  readonly name: string;
  readonly part: UntrustedPart;
  readonly route: RouteView;
}

const MAX_ROUTES = 3;

/** Returns reached routes without `accept_untrusted`. */
export const unacceptedRoutes = (routes: Iterable<RouteView>): readonly ReachedRoute[] =>
  reachedRoutes(routes, ({ config }) => config.accept_untrusted === undefined);

/** Returns at most one more route than `nameRoutes` names. */
export function reachedRoutes(
  routes: Iterable<RouteView>,
  isCounted: (route: RouteView) => boolean = () => true,
): readonly ReachedRoute[] {
  const reached: ReachedRoute[] = [];
  for (const route of routes) {
    const [part] = isCounted(route) ? untrustedParts(route) : [];
    if (part !== undefined) reached.push({ name: route.name, part, route });
    if (reached.length > MAX_ROUTES) break;
  }
  return reached;
}

export function nameRoutes(reached: readonly ReachedRoute[]): string {
  const shown = reached.slice(0, MAX_ROUTES).map(({ name }) => `\`${name}\``);
  const others = reached.length > MAX_ROUTES ? ' and others' : '';
  return `the route${reached.length === 1 ? '' : 's'} ${shown.join(', ')}${others}`;
}

/** Whether the agent's sandbox prevents access to hosts, and writes that outlive the run. */
export function isFullyConfined({ mode, config, profilePlan }: RouteView): boolean {
  const agent = mode !== 'agent' || profilePlan === null ? null : agentPlan(profilePlan, config.agent ?? null);
  const sandbox = agent?.kind === 'command' ? agent.sandbox : null;
  return sandbox !== null && sandbox.network !== 'any' && sandbox.network.length + sandbox.write.length === 0;
}
