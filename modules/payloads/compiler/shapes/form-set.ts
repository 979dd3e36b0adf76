/** The event forms that are possible at one point of a route, with lookups of paths in them. */
import type { TargetEffect } from '../../../../schemas/generated/types.ts';
import type { Found } from './find-path.ts';
import { findPath } from './find-path.ts';
import type { Shape, ShapeVariant } from './shape.ts';

export interface FormSet {
  readonly shape: Shape;
  readonly forms: readonly ShapeVariant[];
  /** Looks up a path in each form, in order. */
  find(path: readonly string[]): readonly Found[];
  /** The set of the forms at these indexes; the set itself if that is all forms. */
  pick(indexes: readonly number[]): FormSet;
  /** Returns the cached result for the key, or computes it. */
  remember<T>(key: string, compute: () => T): T;
}

/** Creates the set of all forms of a shape. Subsets are cached, because ten thousand routes share a few of them. */
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
      // Each key is used for only one kind of computation, so it always has the same type.
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
