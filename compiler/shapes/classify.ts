/** Decides what a field of a route's events is and who writes it: for the rules about untrusted text and for templates. */
import { factsOfField } from './field-facts.ts';
import type { FieldReview } from './field-review.ts';
import type { FormSet } from './form-set.ts';
import type { LeafClass } from './leaf-class.ts';
import { classByType, isUntrusted, leastTrusted } from './leaf-class.ts';
import type { Level } from './path-tree.ts';
import { treeOf } from './suggest-path.ts';

/** Free text, and who writes it. */
export interface UntrustedText {
  readonly path: readonly string[];
  /** The decision it follows from; null: none was made for this field. */
  readonly review: FieldReview | null;
}

export interface FieldClass {
  readonly class: LeafClass;
  /** The free text it is, or the nearest that it holds; null: there is none, or nothing is known of it. */
  readonly text: UntrustedText | null;
}

const UNKNOWN: FieldClass = { class: 'unknown', text: null };

/** What hookwright itself puts in the place of a name that the payload does not have. */
const BUILT_IN: Readonly<Record<string, LeafClass>> = {
  route: 'ours',
  event_type: 'identifier',
  delivery_id: 'identifier',
};

/**
 * An object or a list is as untrusted as the least trusted of what it holds. A path that no form has is `unknown`: the
 * sender may have added it since its shape was made.
 *
 * @param set the forms that may come; null: nothing is known of them
 * @param path as a placeholder has it; empty: the whole payload
 */
export function classify(set: FormSet | null, path: readonly string[]): FieldClass {
  if (set === null) return UNKNOWN;
  if (path.length === 0) return { class: 'text', text: null };
  return set.remember(`class ${path.join('.')}`, () => classifyIn(set, path));
}

function classifyIn(set: FormSet, path: readonly string[]): FieldClass {
  const { nodes } = factsOfField(set, { in: 'root', path: [...path] });
  const builtIn = path.length === 1 ? BUILT_IN[path[0] ?? ''] : undefined;
  if (nodes.length === 0) return builtIn === undefined ? UNKNOWN : { class: builtIn, text: null };
  const tree = treeOf(set);
  const queue: Step[] = [{ path, level: tree.below(tree.root, path) }];
  const classes: LeafClass[] = [];
  // The list grows while it is walked: what is near comes first. One untrusted field decides.
  for (const step of queue) {
    if (queue.length > MOST_STEPS) return { class: 'text', text: null };
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

/** Numbers and a few words: there is nothing to decide. */
const isPlain = (classes: readonly LeafClass[]): boolean =>
  classes.length > 0 && classes.every((each) => each === 'enum' || each === 'number');

/** The class of a field whose type lists no values: one of the sender's words, which are not known. */
const unlisted = (leafClass: LeafClass): LeafClass => (leafClass === 'enum' ? 'identifier' : leafClass);

interface Step {
  readonly path: readonly string[];
  readonly level: Level;
}

/** Types may contain themselves. What is that large holds free text. */
const MOST_STEPS = 5000;

/** The classes of the value itself, and of what may be below it without being listed. */
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

/** An object or a list, or null instead of it: what it is lies in what it holds. */
const isContainer = (types: ReadonlySet<string>): boolean =>
  (types.has('object') || types.has('array')) &&
  [...types].every((type) => type === 'object' || type === 'array' || type === 'null');

/** The least trusting decision where those for several events differ. */
function reviewOf(set: FormSet, path: readonly string[]): FieldReview | null {
  const { shape, forms } = set;
  const found = set.find(path);
  const events = new Set(forms.filter((_, index) => found[index]?.kind !== 'absent').map(({ event }) => event));
  const reviews = [...events].map((event) => shape.review.find(event, path));
  if (reviews.length === 0 || reviews.includes(null)) return null;
  const decided = reviews.filter((review) => review !== null);
  return decided.find((review) => isUntrusted(review.class)) ?? decided[0] ?? null;
}
