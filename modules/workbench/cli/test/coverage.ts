/**
 * What tests reach of each route: every entry of `events`, both truths of every filter leaf, what a script can do, and each
 * placeholder as one that resolves and as one that does not.
 */

import { eventEntries } from '../../../../runtime/table/link-events.ts';
import { printField } from '../../../../runtime/table/link-filter.ts';
import type {
  ExplainedFilter,
  Explanation,
  FilterPlan,
  RoutePlan,
  TemplatePlan,
} from '../../../../schemas/generated/types.ts';

export interface RouteCoverage {
  readonly route: string;
  readonly reached: number;
  readonly total: number;
  /** What no test reached, as text, in the order of the route. */
  readonly missing: readonly string[];
}

export interface Coverage {
  /** 0 to 100, over all routes. */
  readonly percent: number;
  readonly routes: readonly RouteCoverage[];
}

export interface Observed {
  readonly plan: RoutePlan;
  readonly explanation: Explanation;
}

/**
 * @param plans every route of the configurations that are tested
 * @param label the name of a target that people see
 */
export function measureCoverage(
  plans: readonly RoutePlan[],
  observed: readonly Observed[],
  label: (target: string) => string,
): Coverage {
  const routes = plans.map((plan) =>
    coverageOf(
      { ...plan, deliver: plan.deliver.map((delivery) => ({ ...delivery, target: label(delivery.target) })) },
      observed.filter((each) => each.plan === plan).map(({ explanation }) => explanation),
    ),
  );
  const total = routes.reduce((sum, each) => sum + each.total, 0);
  const reached = routes.reduce((sum, each) => sum + each.reached, 0);
  return { percent: total === 0 ? 100 : (reached / total) * 100, routes };
}

function coverageOf(plan: RoutePlan, found: readonly Explanation[]): RouteCoverage {
  const reached = new Set(found.flatMap((explanation) => reachedBy(plan, explanation)));
  const all = itemsOf(plan);
  const missing = all.filter((item) => !reached.has(item));
  return { route: plan.name, reached: all.length - missing.length, total: all.length, missing };
}

const TAKEN = 'an event that is taken';
const entry = (text: string): string => `events: ${text}`;
const leaf = (at: string, text: string, truth: boolean): string => `${at} ${text}: ${truth ? 'true' : 'false'}`;
const script = (path: string, does: 'passes' | 'ignores'): string => `script ${path}: ${does} an event`;
const placeholder = (place: string, text: string, resolves: boolean): string =>
  `${place} ${text}: ${resolves ? 'resolves' : 'does not resolve'}`;

/** Everything in a route that a test can reach. */
function itemsOf(plan: RoutePlan): string[] {
  const both = (make: (truth: boolean) => string): string[] => [make(true), make(false)];
  return [
    TAKEN,
    ...(plan.events === null ? [] : eventEntries(plan.events).map(entry)),
    ...leavesOf(plan.filters).flatMap(({ at, text }) => both((truth) => leaf(at, text, truth))),
    ...(plan.script === null ? [] : [script(plan.script.path, 'passes'), script(plan.script.path, 'ignores')]),
    ...templatesOf(plan).flatMap(({ place, texts }) =>
      texts.flatMap((text) => both((truth) => placeholder(place, text, truth))),
    ),
    ...(plan.coalesce === null ? [] : both((truth) => placeholder('coalesce', 'key', truth))),
  ];
}

interface Leaf {
  readonly at: string;
  readonly text: string;
}

/** In the order of the tree, which is that of the findings too. */
function leavesOf(plan: FilterPlan | null, at = 'filters'): Leaf[] {
  if (plan === null) return [];
  if (plan.kind === 'leaf') return [{ at, text: `${printField(plan.field)} ${plan.operator}` }];
  const group = at === 'filters' && plan.kind === 'all' ? at : `${at}.${plan.kind}`;
  return plan.filters.flatMap((member, index) => leavesOf(member, `${group}[${index}]`));
}

function truthsOf(finding: ExplainedFilter): boolean[] {
  return finding.field === null ? finding.of.flatMap(truthsOf) : [finding.holds];
}

interface Template {
  readonly place: string;
  /** Placeholders as written. */
  readonly texts: readonly string[];
}

function templatesOf({ prompt, deliver }: RoutePlan): Template[] {
  const addresses = deliver.flatMap(({ target, extra }) =>
    Object.entries(extra).map(([key, plan]) => ({ place: `${target} ${key}`, texts: placeholdersOf(plan) })),
  );
  return [{ place: 'prompt', texts: placeholdersOf(prompt) }, ...addresses];
}

/** Placeholders that may or may not resolve: fields that every event has always do, `{headers.X}` never does. */
function placeholdersOf(plan: TemplatePlan): string[] {
  const texts = plan.flatMap((segment) =>
    segment.kind === 'path' && segment.builtin === null && segment.path.length > 0 ? [segment.text] : [],
  );
  return [...new Set(texts)];
}

function reachedBy(plan: RoutePlan, found: Explanation): string[] {
  const matched = found.stages.find(({ stage }) => stage === 'event')?.matched;
  const truths = found.filter === null ? [] : truthsOf(found.filter);
  return [
    ...(found.taken ? [TAKEN] : []),
    ...(typeof matched === 'string' ? [entry(matched)] : []),
    ...leavesOf(plan.filters).flatMap(({ at, text }, index) => {
      const truth = truths[index];
      return truth === undefined ? [] : [leaf(at, text, truth)];
    }),
    ...scriptReached(found),
    ...(found.prompt === null ? [] : renderedBy(plan, found)),
  ];
}

function scriptReached({ script: ran }: Explanation): string[] {
  if (ran === null || ran.outcome === null || ran.outcome === 'busy') return [];
  return [script(ran.path, ran.outcome === 'ignored' ? 'ignores' : 'passes')];
}

function renderedBy(plan: RoutePlan, found: Explanation): string[] {
  const addresses = plan.deliver.flatMap(({ target, extra }, index) =>
    Object.entries(extra).flatMap(([key, template]) => {
      const delivery = found.deliveries[index];
      if (delivery === undefined) return [];
      const open = delivery.unresolved.includes(key) ? (delivery.address[key] ?? '') : '';
      return placeholdersOf(template).map((text) => placeholder(`${target} ${key}`, text, !open.includes(text)));
    }),
  );
  return [
    ...placeholdersOf(plan.prompt).map((text) => placeholder('prompt', text, !found.unresolved.includes(text))),
    ...addresses,
    ...(plan.coalesce === null ? [] : [placeholder('coalesce', 'key', found.coalesce !== null)]),
  ];
}
