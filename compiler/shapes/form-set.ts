/** The forms of events that may come at one point of a route, and where paths lead in them. */
import type { TargetEffect } from '../../schemas/generated/types.ts';
import type { Found } from './find-path.ts';
import { findPath } from './find-path.ts';
import type { Shape, ShapeVariant } from './shape.ts';

export interface FormSet {
  readonly shape: Shape;
  readonly forms: readonly ShapeVariant[];
  /** Where a path leads, for each form in turn. */
  find(path: readonly string[]): readonly Found[];
  /** Those at the indexes; the set itself when that is all of them. */
  pick(indexes: readonly number[]): FormSet;
  /** What `compute` made of this set before, or makes of it now. */
  remember<T>(key: string, compute: () => T): T;
}

/** All forms of a shape. Sets made of it are kept: ten thousand routes ask the same things of a few of them. */
export function createFormSet(shape: Shape): FormSet {
  const sets = new Map<string, FormSet>();
  const select = (indexes: readonly number[]): FormSet => {
    const key = indexes.join(' ');
    const known = sets.get(key);
    if (known !== undefined) return known;
    const set = formSet(shape, indexes, select);
    sets.set(key, set);
    return set;
  };
  return select(shape.variants.map((_, index) => index));
}

function formSet(shape: Shape, members: readonly number[], select: (indexes: readonly number[]) => FormSet): FormSet {
  const memory = new Map<string, unknown>();
  const forms = members.flatMap((index) => shape.variants[index] ?? []);
  const set: FormSet = {
    shape,
    forms,
    find: (path) =>
      set.remember(`find ${path.join('.')}`, () => forms.map(({ root }) => findPath(shape.graph, root, path))),
    pick: (indexes) =>
      indexes.length === members.length ? set : select(indexes.flatMap((index) => members[index] ?? [])),
    remember<T>(key: string, compute: () => T): T {
      // A key is made of what is computed: the same key always means the same type.
      if (memory.has(key)) return memory.get(key) as T;
      const value = compute();
      memory.set(key, value);
      return value;
    },
  };
  return set;
}

/** Whether a delivery causes this form of an event. */
export const isForm = ({ event, action }: ShapeVariant, { events, actions }: TargetEffect): boolean =>
  events.includes(event) && (actions === undefined || action === null || actions.includes(action));
