/** What is known about a path of an event, for `source shape`. */
import { classify } from '../compiler/shapes/classify.ts';
import { shortList } from '../compiler/shapes/describe.ts';
import type { FormSet } from '../compiler/shapes/form-set.ts';
import type { LeafClass } from '../compiler/shapes/leaf-class.ts';
import type { ListedPath } from '../compiler/shapes/list-paths.ts';
import type { ScalarValue } from '../compiler/shapes/shape.ts';

export interface PathFacts {
  readonly path: string;
  /** JSON Schema's names; `any`: not known. */
  readonly types: readonly string[];
  /** Null: any of the types. */
  readonly values: readonly ScalarValue[] | null;
  readonly format: string | null;
  /** Whether some payloads lack it. */
  readonly optional: boolean;
  /** Whether it may contain more than is listed. */
  readonly open: boolean;
  /** What it is and who writes it, see leaf-class.ts; for an object or a list, the class of its contents. */
  readonly class: LeafClass;
  /** Who writes free text, where it is known. */
  readonly written_by: string | null;
  /** Actions that have it; null: all forms of the event have. */
  readonly actions: readonly string[] | null;
}

export function pathFacts(set: FormSet, { path, nodes, found }: ListedPath): PathFacts {
  const { forms } = set;
  const leaf = classify(set, path);
  const formats = new Set(nodes.map(({ format }) => format));
  const listed = nodes.every(({ values, types }) => values !== null || (types.size === 1 && types.has('null')));
  const has = forms.filter((_, index) => found[index]?.kind !== 'absent');
  const actions = has.flatMap(({ action }) => action ?? []);
  return {
    path: path.join('.'),
    types: [...new Set(nodes.flatMap(({ types }) => [...types]))],
    values: listed ? [...new Set(nodes.flatMap(({ values }) => values ?? []))] : null,
    format: formats.size === 1 ? ([...formats][0] ?? null) : null,
    optional: found.some((each) => each.kind === 'absent' || (each.kind === 'node' && each.optional)),
    open: nodes.some(({ types, rest }) => types.has('any') || rest !== null),
    class: leaf.class,
    written_by: leaf.text?.review?.by ?? null,
    actions: has.length < forms.length && actions.length === has.length ? actions : null,
  };
}

/** The most values and actions shown; `--json` has them all. */
const MOST = 8;

/** What people read. A type says enough of numbers and enums, and an object is what it holds. */
export function classWords({ class: leafClass, types }: PathFacts): string {
  if (types.some((type) => type === 'object' || type === 'array')) return '';
  return leafClass === 'text' ? 'free text' : leafClass;
}

export const typeWords = ({ types }: PathFacts): string => types.join(' | ');

export function pathNotes(facts: PathFacts): string {
  const notes = [
    facts.written_by === null || classWords(facts) === '' ? '' : `by ${facts.written_by}`,
    facts.values === null || facts.values.length === 0
      ? ''
      : shortList(facts.values.map(String), MOST).replaceAll('`', ''),
    facts.format ?? '',
    facts.open && facts.types.includes('object') ? 'more may be below' : '',
    facts.actions === null
      ? facts.optional
        ? 'optional'
        : ''
      : `only ${shortList(facts.actions, MOST).replaceAll('`', '')}`,
  ];
  return notes.filter((note) => note !== '').join('; ');
}
