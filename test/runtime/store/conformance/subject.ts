/** A store under test, and helpers of its tests. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Advance, Store, TakenWork, TakeWork } from '../../../../runtime/store/contract.ts';
import type { StoredDispatch, StoreOverview, Tally } from '../../../../runtime/store/queries.ts';
import type { Ref } from '../../../../runtime/store/records.ts';
import { makeAccept, makeAdvance, makeTake } from '../../../helpers/dispatches.ts';

export interface StoreSubject {
  readonly name: string;
  /** Share of the property runs to make; default: all. */
  readonly share?: number;
  /** An empty folder for one store, which the end of the test removes. */
  create(t: Pick<TestContext, 'after'>): StorePlace | Promise<StorePlace>;
}

export interface StorePlace {
  /** Opens the existing store; not while it is open. */
  open(): Promise<Store>;
  /** Ends the open store as the death of its process would: nothing is finished or closed. */
  kill(): Promise<void>;
}

/** An open store that can be restarted. */
export interface OpenStore {
  readonly store: Store;
  close(): Promise<void>;
  /** Closes it, and opens it again. */
  restart(): Promise<void>;
  /** Kills it, and opens it again. */
  crash(): Promise<void>;
}

export interface StoreOpener {
  (t: Pick<TestContext, 'after'>): Promise<OpenStore>;
  /** See `StoreSubject`. */
  readonly share: number;
}

export function openEach(subject: StoreSubject): StoreOpener {
  const open = async (t: Pick<TestContext, 'after'>): Promise<OpenStore> => {
    const place = await subject.create(t);
    let store: Store | null = await place.open();
    const close = async (): Promise<void> => {
      await store?.close();
      store = null;
    };
    t.after(close);
    return {
      get store(): Store {
        assert.ok(store !== null);
        return store;
      },
      close,
      async restart() {
        await close();
        store = await place.open();
      },
      async crash() {
        await place.kill();
        store = await place.open();
      },
    };
  };
  return Object.assign(open, { share: subject.share ?? 1 });
}

export async function accept(store: Store, id: string, overrides: Parameters<typeof makeAccept>[1] = {}): Promise<Ref> {
  const result = await store.write(makeAccept(id, overrides));
  assert.equal(result.kind, 'stored');
  return result.kind === 'stored' ? result.ref : 0;
}

export const take = (store: Store, now: number, overrides: Partial<TakeWork> = {}): Promise<TakenWork> =>
  store.write(makeTake(now, overrides));

export const advance = (store: Store, ref: Ref, to: Advance['to'], at: number, rest: Partial<Advance> = {}) =>
  store.write(makeAdvance(ref, to, at, rest));

/** Accepts a dispatch and takes its run; nothing else may be waiting. */
export async function takeNew(
  store: Store,
  id: string,
  overrides: Parameters<typeof makeAccept>[1] = {},
): Promise<Ref> {
  const ref = await accept(store, id, overrides);
  const { runs } = await take(store, overrides.now ?? 1000);
  assert.deepEqual(
    runs.map((run) => run.ref),
    [ref],
  );
  return ref;
}

export async function load(store: Store, ref: Ref): Promise<StoredDispatch> {
  const stored = await store.read({ kind: 'load', ref });
  assert.ok(stored !== null, `there is no dispatch ${ref}`);
  return stored;
}

export async function find(store: Store, id: string): Promise<StoredDispatch | null> {
  const found = await store.read({ kind: 'find', id });
  return found.kind === 'found' ? found.dispatch : null;
}

export const overview = (store: Store, now = 0): Promise<StoreOverview> => store.read({ kind: 'overview', now });

export const audit = (store: Store): Promise<readonly string[]> => store.read({ kind: 'audit' });

/** The counts of the one route that has any. */
export async function tally(store: Store): Promise<Tally> {
  const [first, ...more] = (await overview(store)).tallies;
  assert.ok(first !== undefined && more.length === 0);
  return first;
}

/** Ids of the runs, in the order in which they were taken. */
export async function idsOf(store: Store, { runs }: TakenWork): Promise<readonly string[]> {
  return Promise.all(runs.map(async ({ ref }) => (await load(store, ref)).id));
}
