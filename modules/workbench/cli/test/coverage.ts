/**
 * Measures what tests reach of each route: every entry of `events`, both results of every filter leaf, the outcomes of a script,
 * and each placeholder both resolved and unresolved.
 */

import { targetLabel } from '../../../../base/text.ts';
import { eventEntries } from '../../../../runtime/table/link-events.ts';
import { printField } from '../../../../runtime/table/link-filter.ts';
import type {
  ExplainedFilter,
  Explanation,
  FilterPlan,
  RoutePlan,
  TemplatePlan,
} from '../../../../schemas/generated/types.ts';

interface RouteCoverage {
  readonly route: string;
  readonly reached: number;
  readonly total: number;
  /** Texts of the items that no test reached, in the order of the route. */
  readonly missing: readonly string[];
}

export interface Coverage {
  /** Percentage of all routes together, 0 to 100. */
  readonly percent: number;
  readonly routes: readonly RouteCoverage[];
}

interface Observed {
  readonly plan: RoutePlan;
  readonly explanation: Explanation;
}

/** @param plans all routes of the tested configurations */
export function measureCoverage(plans: readonly RoutePlan[], observed: readonly Observed[]): Coverage {
  const routes = plans.map((plan) =>
    coverageOf(
      plan,
      observed.filter((each) => each.plan === plan).map(({ explanation }) => explanation),
    ),
  );
  const total = routes.reduce((sum, each) => sum + each.total, 0);
  const reached = routes.reduce((sum, each) => sum + each.reached, 0);
  return { percent: total === 0 ? 100 : (reached / total) * 100, routes };
}

function coverageOf(plan: RoutePlan, explanations: readonly Explanation[]): RouteCoverage {
  const items = itemsOf(plan);
  const missing = items.filter(({ isReached }) => !explanations.some(isReached)).map(({ text }) => text);
  return { route: plan.name, reached: items.length - missing.length, total: items.length, missing };
}

/** Something that a test can reach. */
interface Item {
  readonly text: string;
  readonly isReached: (explanation: Explanation) => boolean;
}

/** Everything in a route that a test can reach. */
function itemsOf(plan: RoutePlan): Item[] {
  const { events, filters, script, prompt, deliver, coalesce } = plan;
  return [
    { text: 'an event that is accepted', isReached: ({ taken }) => taken },
    ...(events === null ? [] : eventEntries(events)).map(entryItem),
    ...leavesOf(filters).flatMap((text, index) =>
      both((truth) => ({
        text: `${text}: ${truth}`,
        isReached: ({ filter }) => filter !== null && truthsOf(filter)[index] === truth,
      })),
    ),
    ...(script === null ? [] : [scriptItem(script.path, 'passes'), scriptItem(script.path, 'ignores')]),
    ...placeholdersOf(prompt).flatMap((text) =>
      placeholderItems(`prompt ${text}`, ({ unresolved }) => !unresolved.includes(text)),
    ),
    ...deliver.flatMap(addressItems),
    ...(coalesce === null ? [] : placeholderItems('coalesce key', (explanation) => explanation.coalesce !== null)),
  ];
}

const both = (make: (truth: boolean) => Item): Item[] => [make(true), make(false)];

const entryItem = (entry: string): Item => ({
  text: `events: ${entry}`,
  isReached: ({ stages }) => stages.some(({ stage, matched }) => stage === 'event' && matched === entry),
});

const scriptItem = (path: string, does: 'passes' | 'ignores'): Item => ({
  text: `script ${path}: ${does} an event`,
  isReached({ script }) {
    if (script === null || script.outcome === null || script.outcome === 'busy') return false;
    return (script.outcome === 'ignored') === (does === 'ignores');
  },
});

/** @param resolves whether the placeholder resolves for an event; null: it is not rendered */
const placeholderItems = (text: string, resolves: (explanation: Explanation) => boolean | null): Item[] =>
  both((truth) => ({
    text: `${text}: ${truth ? 'resolves' : 'does not resolve'}`,
    isReached: (explanation) => explanation.prompt !== null && resolves(explanation) === truth,
  }));

/** @param index of the delivery in the route, and in the explanation */
function addressItems(plan: RoutePlan['deliver'][number], index: number): Item[] {
  const resolves = (explanation: Explanation, key: string, text: string): boolean | null => {
    const delivery = explanation.deliveries[index];
    if (delivery === undefined) return null;
    return !(delivery.unresolved.includes(key) && (delivery.address[key] ?? '').includes(text));
  };
  return Object.entries(plan.extra).flatMap(([key, template]) =>
    placeholdersOf(template).flatMap((text) =>
      placeholderItems(`${targetLabel(plan)} ${key} ${text}`, (explanation) => resolves(explanation, key, text)),
    ),
  );
}

/** Returns the leaves with their places, in the order of the tree, which is also the order of the findings. */
function leavesOf(plan: FilterPlan | null, at = 'filters'): string[] {
  if (plan === null) return [];
  if (plan.kind === 'leaf') return [`${at} ${printField(plan.field)} ${plan.operator}`];
  // A test reaches some elements, so the list as a whole is what can be true or false.
  if ('where' in plan) return [`${at} ${printField(plan.field)} ${plan.kind}`];
  const group = at === 'filters' && plan.kind === 'all' ? at : `${at}.${plan.kind}`;
  return plan.filters.flatMap((member, index) => leavesOf(member, `${group}[${index}]`));
}

function truthsOf(finding: ExplainedFilter): boolean[] {
  return finding.field === null ? finding.of.flatMap(truthsOf) : [finding.holds];
}

/** Returns the placeholders, as written, that may or may not resolve. Fields that every event has always resolve, `{headers.X}` never does. */
function placeholdersOf(plan: TemplatePlan): string[] {
  const texts = plan.flatMap((segment) => {
    if (segment.kind === 'each') return [segment.text, ...placeholdersOf(segment.plan)];
    return segment.kind === 'path' && segment.builtin === null && segment.path.length > 0 ? [segment.text] : [];
  });
  return [...new Set(texts)];
}
