/** Inspects the home after the kills, and reports lost or doubled events. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DispatchSummary } from '../../runtime/store/queries.ts';
import { isFinal } from '../../runtime/store/states.ts';
import { openTestStore } from '../helpers/postgres/store.ts';
import { openOfflineStore } from '../helpers/rescued-store.ts';
import type { ChildOptions, CrashEvent, Effect } from './protocol.ts';
import { SENT } from './protocol.ts';

export interface Findings {
  /** Lost or doubled events, as an operator would call them; empty if there are none. */
  readonly wrong: readonly string[];
  readonly dispatches: number;
  /** Agent runs beyond the first. They are allowed, because runs happen at least once. */
  readonly repeatedRuns: number;
}

type Counts = Readonly<Record<Effect['kind'], number>>;
const NONE: Counts = { run: 0, idempotent: 0, plain: 0, immediate: 0, direct: 0 };

/** `acknowledged`: ids whose senders got a 2xx response. */
export async function inspectHome(
  { home, database }: Pick<ChildOptions, 'home' | 'database'>,
  events: readonly CrashEvent[],
  acknowledged: ReadonlySet<string>,
): Promise<Findings> {
  const store =
    database === null
      ? await openOfflineStore(join(home, 'state.db'))
      : await openTestStore(database.url, database.schema);
  try {
    const byId = new Map<string, DispatchSummary[]>();
    for (const stored of await store.read({ kind: 'list', filter: { limit: 1_000_000 } })) {
      byId.set(stored.delivery_id, [...(byId.get(stored.delivery_id) ?? []), stored]);
    }
    const effects = readEffects(home);
    const wrong = [...(await store.read({ kind: 'audit' }))];
    let repeatedRuns = 0;
    for (const event of events) {
      const counts = effects.get(event.id) ?? { ...NONE };
      repeatedRuns += Math.max(0, counts.run - 1);
      if (acknowledged.has(event.id)) {
        wrong.push(...wrongWith(event, byId.get(event.id) ?? [], counts).map((what) => `${event.id}: ${what}`));
      }
    }
    for (const [id, stored] of byId) {
      for (const { state } of stored) if (!isFinal(state)) wrong.push(`${id}: still ${state}`);
    }
    return { wrong, dispatches: [...byId.values()].flat().length, repeatedRuns };
  } finally {
    await store.close();
  }
}

function wrongWith({ mode }: CrashEvent, stored: readonly DispatchSummary[], counts: Counts): readonly string[] {
  const [one] = stored;
  if (one === undefined || stored.length !== 1) return [`stored ${stored.length} times`];
  const wrong: string[] = [];
  if (mode === 'failing') {
    if (one.state !== 'dead' || counts.run < 1) wrong.push(`run ${counts.run} times, and ${one.state}`);
    if (counts.idempotent !== 1) wrong.push(`told ${counts.idempotent} times that its run has failed`);
    return wrong;
  }
  if (mode === 'direct') {
    if (one.state !== 'done') wrong.push(`answered as delivered, but ${one.state}`);
    if (counts.direct < 1) wrong.push('answered as delivered, but not sent');
    if (counts.idempotent !== 1) wrong.push(`sent ${counts.idempotent} times to the target that drops repeats`);
    return wrong;
  }
  if (one.state === 'skipped' && mode === 'coalesce' && one.reason?.startsWith('superseded by ') === true) {
    return counts.run === 0 ? [] : ['superseded, but run'];
  }
  if (one.state !== 'done') wrong.push(`ended ${one.state}: ${one.reason}`);
  if (mode === 'message' ? counts.run > 0 : counts.run < 1) wrong.push(`run ${counts.run} times`);
  if (mode === 'immediate') return counts.immediate < 1 ? [...wrong, 'not delivered within the process'] : wrong;
  if (counts.idempotent !== 1) wrong.push(`delivered ${counts.idempotent} times to the target that drops repeats`);
  if (counts.plain < 1) wrong.push('not delivered to the plain target');
  return wrong;
}

function readEffects(home: string): ReadonlyMap<string, Counts> {
  const counts = new Map<string, Record<Effect['kind'], number>>();
  const count = (kind: Effect['kind'], id: string): void => {
    const found = counts.get(id) ?? { ...NONE };
    found[kind]++;
    counts.set(id, found);
  };
  for (const file of readdirSync(home)) {
    if (file.startsWith(SENT)) count('idempotent', file.slice(file.indexOf('=') + 1));
  }
  for (const line of readFileSync(join(home, 'effects.log'), 'utf8').split('\n')) {
    if (line === '') continue;
    const { kind, id } = JSON.parse(line) as Effect;
    count(kind, id);
  }
  return counts;
}
