/** Conditions of `deliveries list` and `deliveries replay`, and the replay itself. */
import { present } from '../../compiler/text/plain-data.ts';
import { suggest } from '../../compiler/text/suggest.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import { createIds } from '../../runtime/platform/ids.ts';
import type { MutationResults, Store } from '../../runtime/store/contract.ts';
import type { DeadWork, DispatchSummary, ListFilter, StoredDispatch } from '../../runtime/store/queries.ts';
import { SHOWN_STATES } from '../../runtime/store/states.ts';
import { DELIVERED, replay, whyNotReplay } from '../../runtime/store/timeline.ts';
import type { ReplayedDeliveries } from '../../schemas/built/operations/types.ts';
import { UsageError } from '../base/errors.ts';
import { formatDuration } from '../output/table.ts';

export type Filter = Omit<ListFilter, 'limit' | 'before'>;

/** @throws UsageError for an unknown word. */
export const parseDeliveryFilter = (
  { state, route, job, since }: Readonly<Record<'state' | 'route' | 'job' | 'since', string | undefined>>,
  now: number,
): Filter =>
  present({
    state: state === undefined ? state : parseNamed('state', state, SHOWN_STATES),
    route,
    job,
    since: since === undefined ? since : parseSince(since, now),
  });

const UNITS: Readonly<Record<string, number>> = { s: 1000, min: 60_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Unix ms: a span back from now (`90s`, `30min`, `12h`, `7d`) or an instant (`2026-01-05`, `2026-01-05T08:00Z`). */
export function parseSince(text: string, now: number): number {
  const span = /^(\d+(?:\.\d+)?)\s*(s|min|m|h|d)$/.exec(text);
  if (span !== null) return Math.floor(now - Number(span[1]) * (UNITS[span[2] ?? ''] ?? 0));
  const instant = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(instant)) return instant;
  throw new UsageError(`invalid time "${text}"`, 'examples: 30min, 12h, 7d, 2026-01-05, 2026-01-05T08:00Z');
}

export function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new UsageError(`--limit must be a whole number above 0, not "${text}"`);
}

/** Parses one of many names. @param what the kind of name */
export function parseNamed<Name extends string>(what: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  const [close] = suggest(text, names);
  const known = `${what}s: ${names.join(', ')}`;
  throw new UsageError(
    `there is no ${what} "${text}"`,
    close === undefined ? known : `did you mean ${close}? ${known}`,
  );
}

/** Replays stored in one transaction. */
const BATCH = 100;

interface Replaying {
  readonly clock: Clock;
  readonly random: (bytes: number) => Buffer;
  /** See `ReplayOptions`. */
  readonly rerun: boolean;
  readonly again: boolean;
  /** Changes nothing. */
  readonly dryRun: boolean;
  /** @param done number of deliveries processed */
  readonly onProgress: (done: number) => void;
}

/** Replays deliveries that failed permanently. */
export async function storeReplays(
  store: Store,
  ids: readonly string[],
  { clock, random, onProgress, ...given }: Replaying,
): Promise<ReplayedDeliveries> {
  const create = createIds(random);
  const done: ReplayedDeliveries['done'][number][] = [];
  const refused: ReplayedDeliveries['refused'][number][] = [];
  const seen = new Set<string>();
  const one = async (stored: StoredDispatch): Promise<void> => {
    // The same one may be named twice, by its id or a prefix.
    if (seen.has(stored.id)) return;
    seen.add(stored.id);
    const id = create.dispatch(clock.now());
    const why = whyNotReplay(stored, given.again);
    const change = replay(stored, { id, now: clock.now(), ...given });
    const isNew = change.kind !== 'resend';
    const result = why !== null || given.dryRun ? null : await store.write(change);
    const reason = why ?? (result === null || result.kind === 'stored' ? null : await explain(store, result));
    if (reason === null) done.push(isNew ? { id, replay_of: stored.id } : { id: stored.id, replay_of: null });
    else refused.push({ id: stored.id, reason });
  };
  for (let start = 0; start < ids.length; start += BATCH) {
    const named = ids.slice(start, start + BATCH);
    const batch = await Promise.all(named.map((id) => store.read({ kind: 'find', id })));
    await Promise.all(
      batch.map((found, at) =>
        found.kind === 'found'
          ? one(found.dispatch)
          : refused.push({ id: named[at] ?? '', reason: LOOKUP_ERRORS[found.kind] }),
      ),
    );
    onProgress(start + batch.length);
  }
  return { done, refused };
}

const LOOKUP_ERRORS = { unknown: 'there is no such delivery', ambiguous: 'several deliveries begin with this id' };

type Refused = Exclude<MutationResults['accept' | 'fire_job' | 'resend'], { readonly kind: 'stored' }>;

async function explain(store: Store, result: Refused): Promise<string> {
  if (result.kind === 'done') return DELIVERED;
  if (result.kind === 'running') return 'its job is running: replay it once that run has ended';
  if (result.kind !== 'superseded') return 'the delivery was resumed or removed in the meantime';
  const by = await store.read({ kind: 'load', ref: result.by });
  return `the event continued as ${by?.id ?? 'another delivery'}`;
}

/** The ids of the newest matches. */
export async function chooseDeliveries(store: Store, filter: Filter, limit: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let before: number | undefined; ids.length < limit; ) {
    const slice = { ...(before === undefined ? {} : { before }), limit: Math.min(1000, limit - ids.length) };
    const page: readonly DispatchSummary[] = await store.read({ kind: 'list', filter: { ...filter, ...slice } });
    ids.push(...page.map(({ id }) => id));
    before = page.at(-1)?.ref;
    if (before === undefined) break;
  }
  return ids;
}

const MAX_NAMED = 5;

/** `3 deliveries are dead: 2 of alerts since 2 h, 1 of job standup since 5 min`; null when there are none. */
export function describeDead(dead: readonly DeadWork[], now: number): string | null {
  const total = dead.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  const oldest = [...dead].sort((a, b) => a.since - b.since);
  const named = oldest.slice(0, MAX_NAMED).map((work) => {
    return `${work.count} of ${ownerOf(work)} since ${formatDuration(now - work.since)}`;
  });
  const others = oldest.length > MAX_NAMED ? [`more of ${oldest.length - MAX_NAMED} other routes or jobs`] : [];
  return `${total === 1 ? '1 delivery is' : `${total} deliveries are`} dead: ${[...named, ...others].join(', ')}`;
}

/** The command that lists them. */
export const LIST_DEAD = 'hookwright deliveries list --state dead --all';

function ownerOf({ profile, ...of }: DeadWork): string {
  const name = ownerText(of);
  return profile === 'default' ? name : `${name} (profile ${profile})`;
}

type Owner = Pick<DeadWork, 'job'> & Partial<Pick<DeadWork, 'job_name'>>;

/** The owner of a delivery: its route, its job, or the gateway, whose own messages have neither. */
export const ownerText = ({ route, ...of }: Owner & Pick<DeadWork, 'route'>): string =>
  route ?? (of.job === null ? '(gateway)' : `job ${jobText(of)}`);

/** The name and the id of a job that was created at run time, else its id, which is its name. */
export const jobText = ({ job, job_name = null }: Owner): string | null =>
  job === null || job_name === null ? job : `${job_name} (${job})`;
