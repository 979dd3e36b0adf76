/** Classifies fields of a route's events by content and author, for rules about untrusted text and for templates. */

import { printPath } from '../../../../base/paths.ts';
import type { FieldReview } from './field-review.ts';
import type { FormSet, Level } from './form-set.ts';
import { factsOfField } from './form-set.ts';
import type { LeafClass } from './shape.ts';
import { classByType, isContainer, isUntrusted, leastTrusted } from './shape.ts';
import { treeOf } from './suggest-path.ts';

/** Free text, and its author. */
interface UntrustedText {
  readonly path: readonly string[];
  /** The review decision that applies to the field, or null. */
  readonly review: FieldReview | null;
}

export interface FieldClass {
  readonly class: LeafClass;
  /** The field itself if it is free text, else the nearest free text inside it; null if there is none or it is unknown. */
  readonly text: UntrustedText | null;
}

const UNKNOWN: FieldClass = { class: 'unknown', text: null };

/** Classes of built-in values, which replace names that the payload does not have. */
const BUILT_IN: Readonly<Record<string, LeafClass>> = {
  route: 'ours',
  event_type: 'identifier',
  delivery_id: 'identifier',
};

/**
 * Classifies a field. An object or a list has the class of the least trusted value in it. A path that no form has is
 * `unknown`: the sender may have added it after the shape was created.
 *
 * @param set the possible event forms; null if unknown
 * @param path the path of a placeholder; empty for the whole payload
 */
export function classify(set: FormSet | null, path: readonly string[]): FieldClass {
  if (set === null) return UNKNOWN;
  if (path.length === 0) return { class: 'text', text: null };
  return set.remember(`class ${printPath(path)}`, () => classifyIn(set, path));
}

function classifyIn(set: FormSet, path: readonly string[]): FieldClass {
  const { nodes } = factsOfField(set, { in: 'root', path: [...path] });
  const builtIn = path.length === 1 ? BUILT_IN[path[0] ?? ''] : undefined;
  if (nodes.length === 0) return builtIn === undefined ? UNKNOWN : { class: builtIn, text: null };
  const tree = treeOf(set);
  const queue: Step[] = [{ path, level: tree.below(tree.root, path) }];
  const classes: LeafClass[] = [];
  // Breadth-first: the queue grows while it is processed. The first untrusted field decides.
  for (const step of queue) {
    if (queue.length > MAX_STEPS) return { class: 'text', text: null };
    const byType = classesAt(set, step);
    const review = isPlain(byType) ? null : reviewOf(set, step.path);
    const own = review === null ? byType : [unlisted(review.class)];
    classes.push(...own);
    const least = own.length === 0 ? null : leastTrusted(own);
    if (least !== null && isUntrusted(least))
      return { class: least, text: least === 'text' ? { path: step.path, review } : null };
    if (review !== null) continue;
    for (const [name, level] of tree.children(step.level)) queue.push({ path: [...step.path, name], level });
  }
  return { class: leastTrusted(classes), text: null };
}

/** Numbers and enums, for which there is nothing to review. */
const isPlain = (classes: readonly LeafClass[]): boolean =>
  classes.length > 0 && classes.every((each) => each === 'enum' || each === 'number');

/** The class of a field whose type does not list its values: an enum of unknown values counts as an identifier. */
const unlisted = (leafClass: LeafClass): LeafClass => (leafClass === 'enum' ? 'identifier' : leafClass);

interface Step {
  readonly path: readonly string[];
  readonly level: Level;
}

/** Limit on visited nodes, because types may be recursive. Anything this large contains free text. */
const MAX_STEPS = 5000;

/** The classes of the value itself, and of unlisted properties that it may have. A container has those of its content. */
function classesAt({ shape: { graph } }: FormSet, { path, level }: Step): readonly LeafClass[] {
  const name = path.findLast((part) => !INDEX.test(part)) ?? '';
  return level.flatMap((id): readonly LeafClass[] => {
    const node = graph.node(id);
    return [
      ...(isContainer(node.types) ? [] : [classByType(node, name)]),
      ...(node.rest === null ? [] : ['unknown' as const]),
    ];
  });
}

const INDEX = /^\d+$/;

/** The strictest decision, if those for several events differ. */
function reviewOf(set: FormSet, path: readonly string[]): FieldReview | null {
  const { shape, forms } = set;
  const found = set.find(path);
  const events = new Set(forms.filter((_, index) => found[index]?.kind !== 'absent').map(({ event }) => event));
  const reviews = [...events].map((event) => shape.review.find(event, path));
  if (reviews.length === 0 || reviews.includes(null)) return null;
  const decided = reviews.filter((review) => review !== null);
  return decided.find((review) => isUntrusted(review.class)) ?? decided[0] ?? null;
}
