/** A store with its dispatches numbered 1, 2, 3 in the order in which they were stored, to be compared with the model. */
import type { Mutation, Ref } from '../../runtime/store/mutations.ts';
import type { Store } from '../../runtime/store/store.ts';

/** @param real its numbers, in that order; kept from one opening of a store to the next */
export function renumbered(store: Store, real: Ref[]): Store {
  const toReal = (ref: Ref): Ref => (ref === 0 ? 0 : (real[ref - 1] ?? 1_000_000_000 + ref));
  const fromReal = (ref: Ref): Ref => real.indexOf(ref) + 1;
  const read = <T extends { readonly ref: Ref }>(row: T): T => ({ ...row, ref: fromReal(row.ref) });
  const readOne = <T extends { readonly ref: Ref }>(row: T | null): T | null => (row === null ? null : read(row));
  const translate = (mutation: Mutation): Mutation => {
    if (mutation.kind === 'cleanup') return { ...mutation, after: toReal(mutation.after) };
    if (mutation.kind === 'take_inbox') return { ...mutation, refs: mutation.refs.map(toReal) };
    return 'ref' in mutation ? { ...mutation, ref: toReal(mutation.ref) } : mutation;
  };
  return {
    ...store,
    load: (ref) => readOne(store.load(toReal(ref))),
    list: (query) => store.list(query).map(read),
    open: (after, limit) => store.open(toReal(after), limit).map(read),
    groups: () => store.groups().map(read),
    inbox: (limit) => store.inbox(limit).map(fromReal),
    async write(mutation) {
      const result: unknown = await store.write(translate(mutation));
      if (typeof result !== 'object' || result === null) return result as never;
      if ('kind' in result && result.kind === 'stored' && 'ref' in result) {
        real.push(result.ref as Ref);
        return { ...result, ref: real.length } as never;
      }
      if ('next' in result && mutation.kind === 'cleanup') {
        return { ...result, next: result.next === null ? null : fromReal(result.next as Ref) } as never;
      }
      return result as never;
    },
  };
}
