/** Data of the API in a view: loaded when the view is shown, and again when something has happened. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Id, Input, Output } from '../api.ts';
import { call } from '../api.ts';
import { useLive } from './live.ts';
import { notify } from './notify.tsx';

export interface Loaded<T> {
  /** Null: not loaded yet. What was loaded last stays while it is loaded again. */
  readonly data: T | null;
  /** Why it could not be loaded the last time. */
  readonly error: string | null;
  readonly reload: () => void;
}

/** @param input null: it is not asked for yet */
export function useData<I extends Id>(id: I, input: Input<I> | null, live = true): Loaded<Output<I>> {
  const key = JSON.stringify(input);
  const [state, setState] = useState<{ data: Output<I> | null; error: string | null }>({ data: null, error: null });
  const latest = useRef(0);
  const load = useCallback((): void => {
    if (key === 'null') return;
    const turn = ++latest.current;
    const settle = (next: (before: typeof state) => typeof state): void => {
      if (turn === latest.current) setState(next);
    };
    call(id, JSON.parse(key) as Input<I>).then(
      (data) => settle(() => ({ data, error: null })),
      (error: Error) => settle(({ data }) => ({ data, error: error.message })),
    );
  }, [id, key]);
  useEffect(() => {
    setState({ data: null, error: null });
    load();
    return () => void latest.current++;
  }, [load]);
  useLive(live ? load : null);
  return { ...state, reload: load };
}

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}
type ListId = { [I in Id]: Output<I> extends Page<unknown> ? I : never }[Id];
type Item<I extends ListId> = Output<I> extends Page<infer T> ? T : never;

export interface Listed<T> extends Loaded<readonly T[]> {
  /** Loads the next page; null: there is none. */
  readonly more: (() => void) | null;
  /** More came between two looks than a page has: what is shown is a sample. */
  readonly isSampled: boolean;
}

/** A list, of which further pages are added on request. The first page is live until then. */
export function useList<I extends ListId>(id: I, input: Input<I>, live = true): Listed<Item<I>> {
  const [added, setAdded] = useState<{ items: readonly Item<I>[]; next: string | null } | null>(null);
  const first = useData(id, input, live && added === null);
  const key = JSON.stringify(input);
  const latest = useRef(0);
  const forget = (): void => {
    latest.current++;
    setAdded(null);
  };
  useEffect(forget, [key]);
  const page = first.data as Page<Item<I>> | null;
  const isSampled = useSampled(page as Page<{ readonly id?: string }> | null, key);
  const next = added === null ? (page?.next ?? null) : added.next;
  const more = (): void => {
    const turn = ++latest.current;
    call(id, { ...input, cursor: next } as Input<I>).then(
      (found) => {
        const { items, next: following } = found as unknown as Page<Item<I>>;
        // A page of another list, or one that was asked for twice, is not added.
        if (turn === latest.current) setAdded({ items: [...(added?.items ?? []), ...items], next: following });
      },
      (error: Error) => notify(error.message, 'bad'),
    );
  };
  return {
    ...{ error: first.error, isSampled, more: next === null ? null : more },
    data: page === null ? null : [...page.items, ...(added?.items ?? [])],
    reload: () => {
      forget();
      first.reload();
    },
  };
}

/** Whether nothing of what was shown before is in the page any more, the last time that it was loaded again. */
function useSampled(page: Page<{ readonly id?: string }> | null, key: string): boolean {
  const before = useRef<{
    readonly key: string;
    readonly ids: ReadonlySet<string | undefined>;
    isSampled: boolean;
  } | null>(null);
  const ids = new Set(page?.items.map(({ id }) => id));
  const { current: last } = before;
  const isNew = last === null || last.key !== key || last.ids.size === 0;
  const isSame = !isNew && [...ids].every((id) => last.ids.has(id)) && ids.size === last.ids.size;
  const isSampled = isNew ? false : isSame ? last.isSampled : ![...ids].some((id) => last.ids.has(id));
  if (page !== null) before.current = { key, ids, isSampled };
  return isSampled && ids.size > 0;
}
