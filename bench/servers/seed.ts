/** Fills a store with small dispatches: old and recent finished ones, and pending ones. Options arrive as JSON. */
import { randomBytes } from 'node:crypto';
import { createIds } from '../../runtime/platform/ids.ts';
import type { Logger } from '../../runtime/platform/log.ts';
import type { Store } from '../../runtime/store/contract.ts';
import { openServerStore } from '../../runtime/store/sqlite/open-store.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';

export interface SeedOptions {
  readonly path: string;
  /** Finished thirty days ago, finished now, not started. */
  readonly old: number;
  readonly recent: number;
  readonly pending: number;
}

const { path, old, recent, pending } = JSON.parse(process.argv[2] ?? '{}') as SeedOptions;
const ids = createIds(randomBytes);
const MONTH_MS = 30 * 86_400_000;
/** Concurrent writes. */
const WIDTH = 1000;

function dispatch(accepted_at: number): Dispatch {
  const id = ids.dispatch(accepted_at);
  return {
    id,
    mode: 'agent',
    profile: 'default',
    route: 'agent',
    job: null,
    event: 'pull_request',
    delivery_id: id,
    accepted_at,
    due_at: null,
    prompt: 'Review #2 in ann/hello-world: Update the README',
    skills: [],
    toolsets: ['web_search'],
    session: `webhook:agent:${id}`,
    deliveries: [{ target: 'log', extra: {}, unresolved: [] }],
    mirror_to_session: false,
    superseded: 0,
    replay_of: null,
  };
}

async function add(store: Store, at: number, finished: boolean): Promise<void> {
  const holder = 'seed';
  const stored = await store.write({
    kind: 'accept',
    dispatch: dispatch(at),
    max_concurrent: null,
    claim: null,
    claiming: 'now',
    now: at,
    work: finished ? { kind: 'held', holder } : { kind: 'run' },
  });
  if (!finished || stored.kind !== 'stored') return;
  await store.write({ kind: 'advance', ref: stored.ref, holder, to: 'done', at });
}

async function addMany(store: Store, count: number, at: number, finished: boolean): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: WIDTH }, async () => {
      while (left-- > 0) await add(store, at, finished);
    }),
  );
}

const quiet = (): void => {};
const log: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const store = await openServerStore({ path, durability: 'normal', log });
const now = Date.now();
await addMany(store, old, now - MONTH_MS, true);
await addMany(store, recent, now, true);
await addMany(store, pending, now, false);
await store.close();
process.send?.({ seeded: old + recent + pending }, () => process.exit(0));
