/** Loads data of the API for a view, and loads it again when the gateway reports a change. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Id, Input, Output } from '../api.ts';
import { call } from '../api.ts';
import { notify } from './notify.tsx';

export interface Loaded<T> {
  /** Null: not loaded yet. The last data stays during a reload. */
  readonly data: T | null;
  /** Why the last load failed. */
  readonly error: string | null;
  readonly reload: () => void;
}

/** A negative `since` is relative to the current minute, as for the counts of a range, so that a range moves with the time. */
const sinceNow = <T extends object>(input: T): T =>
  'since' in input && Number(input.since) < 0
    ? { ...input, since: Date.now() - (Date.now() % 60_000) + Number(input.since) }
    : input;

/** @param input null: do not load yet */
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
    call(id, sinceNow(JSON.parse(key) as Input<I>)).then(
      (data) => settle(() => ({ data, error: null })),
      (error: Error) => settle(({ data }) => ({ data, error: error.message })),
    );
  }, [id, key]);
  useEffect(() => {
    // A preview stays while another one loads, so that nothing below it moves.
    setState(({ data }) => ({ data: input !== null && 'dry_run' in input ? data : null, error: null }));
    load();
    return () => void latest.current++;
  }, [load]);
  useLive(live ? load : null);
  return { ...state, reload: load };
}

interface Page<T> {
  readonly items: readonly T[];
  /** Absent: the list has one page. */
  readonly next?: string | null;
}
export type ListId = { [I in Id]: Output<I> extends Page<unknown> ? I : never }[Id];
export type ItemOf<I extends ListId> = Output<I> extends Page<infer T> ? T : never;

export interface Listed<I extends ListId> extends Loaded<Output<I>> {
  /** The items of all pages that are shown. */
  readonly items: readonly ItemOf<I>[];
  /** Loads the next page; null: there is none. */
  readonly more: (() => void) | null;
}

/** A list whose further pages are added on request. The first page is live until then. */
export function useList<I extends ListId>(id: I, input: Input<I>, live = true): Listed<I> {
  const [added, setAdded] = useState<Page<ItemOf<I>> | null>(null);
  const first = useData(id, input, live && added === null);
  const key = JSON.stringify(input);
  const latest = useRef(0);
  const forget = (): void => {
    latest.current++;
    setAdded(null);
  };
  useEffect(forget, [key]);
  const page = first.data as Page<ItemOf<I>> | null;
  const { next = null } = added ?? page ?? {};
  const more = (): void => {
    const turn = ++latest.current;
    call(id, sinceNow({ ...input, cursor: next } as Input<I>)).then(
      (page) => {
        const { items, next: following } = page as unknown as Page<ItemOf<I>>;
        // Ignores the page of another list, or one that was requested twice.
        if (turn === latest.current)
          setAdded((before) => ({ items: [...(before?.items ?? []), ...items], next: following ?? null }));
      },
      (error: Error) => notify(error.message, 'bad'),
    );
  };
  const reload = (): void => {
    forget();
    first.reload();
  };
  const items = [...(page?.items ?? []), ...(added?.items ?? [])];
  return { ...first, items, reload, more: next === null ? null : more };
}

/*
 * Live updates: views load again when the gateway's stream sends an event, at most once a second. They also poll: every 15 s
 * with a stream, every 3 s without one.
 */

const EVERY_MS = 3000;
/** With a stream, every fifth poll is enough for changes that the stream does not report. */
const STREAM_POLLS = 5;

const views = new Set<() => void>();
let stream: EventSource | null = null;
let polls = 0;

function lookAgain(): void {
  if (!document.hidden) for (const load of [...views]) load();
}

/**
 * Browsers allow about six connections to a server, so a hidden page closes its stream; otherwise a seventh tab would never load.
 * `EventSource` reconnects automatically unless it was rejected: then the next view, or showing the page again, reconnects.
 */
function listen(): void {
  if (document.hidden || views.size === 0) {
    stream?.close();
    stream = null;
  } else if (stream === null || stream.readyState === EventSource.CLOSED) {
    stream = new EventSource('api/events');
    stream.onmessage = lookAgain;
  }
}

document.addEventListener('visibilitychange', () => {
  listen();
  lookAgain();
});

setInterval(() => {
  polls++;
  if (stream?.readyState !== EventSource.OPEN || polls % STREAM_POLLS === 0) lookAgain();
}, EVERY_MS);

/** @param load null: the view is not live */
export function useLive(load: (() => void) | null): void {
  useEffect(() => {
    if (load === null) return;
    views.add(load);
    listen();
    return () => void views.delete(load);
  }, [load]);
}
