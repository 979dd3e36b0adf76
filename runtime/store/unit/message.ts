/**
 * Messages: dispatches without a run. A message is one row for each profile, route and delivery id, and each of its
 * targets gets it once.
 *
 *   attempt of the sender ──> new row ──> delivering ──> done, or rejected: the id is claimed, a further attempt is a duplicate
 *                                           ^  └───────> dead: the id is free
 *   further attempt ──> text and addresses ─┤             │
 *   replay ──> the id is claimed ───────────┴─────────────┘
 *
 * If nothing that its sender signed identifies it, the digest of what was signed (the replay guard) names the same row.
 * While a process holds the row, because its sender waits, a further attempt is `held`. While the row is retried, it is
 * a duplicate. An id whose claim has expired is a new event with a new row.
 */
import { isDeepStrictEqual } from 'node:util';
import { realTarget } from '../../../base/spec-names.ts';
import { isDispatch } from '../../../schemas/built/rows/Dispatch.ts';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Accept, MutationResults, Resend } from '../contract.ts';
import { decodeOr } from '../decode.ts';
import type { Headed, LargeTexts } from '../group-commit.ts';
import { headTargets, headText } from '../group-commit.ts';
import type { ClaimKey, Ref, StoredClaim } from '../records.ts';
import { claimKeys, routeLane } from '../records.ts';
import type { Step } from '../states.ts';
import { actionStep, answerOf, hasEnded, wasRejected } from '../states.ts';
import { openDelivery } from './blocked.ts';
import type { WorkRow } from './rows.ts';
import type { WorkUnit } from './unit.ts';

/** How long the id of a message is claimed, in ms, if an earlier version stored no such value. */
const TTL_MS = 3_600_000;

/** The effect of a further attempt on the row of its message; null: there is none to continue. */
export function attemptAgain(
  unit: WorkUnit,
  { dispatch: head, claiming, work, now }: Headed<Accept>,
  claim: StoredClaim,
  { body }: LargeTexts,
): MutationResults['accept'] | null {
  const { rows } = unit;
  const [known] = claimKeys(claim).flatMap((name) => rows.messages.get(rows.keyOf(name)) ?? []);
  if (known === undefined) return null;
  const { ref } = known;
  const open = rows.work.get(ref);
  if (open !== undefined && !isOwn(open, work)) return open.holder === null ? { kind: 'duplicate' } : { kind: 'held' };
  const row = open ?? rows.ended.get(ref);
  const stored = rows.bodyOf(ref) ?? '';
  // If the row is damaged, the event starts over.
  const before = decodeOr<Dispatch | null>(stored, isDispatch, null);
  if (row === undefined || row.state === 'done' || before === null || body === null) return null;
  const earlier = unit.stepsOf(row);
  if (wasRejected({ state: row.state, steps: earlier })) return null;
  const { id, accepted_at, replay_of } = before;
  const next = JSON.parse(body) as Dispatch;
  const { deliveries, withdrawn } = mergeDeliveries(before, next, earlier, now);
  const steps = [...earlier, ...withdrawn];
  const dispatch: Dispatch = { ...next, id, accepted_at, replay_of, deliveries };
  const merged = JSON.stringify(dispatch);
  if (open === undefined) unit.reopen(row, now);
  unit.move(row, { to: 'delivering', at: now, steps: withdrawn });
  row.holder = work.kind === 'held' ? work.holder : null;
  unit.changedBodies.push({
    ref,
    lane: routeLane(row.lane),
    head: headText({ ...head, replay_of }, 0),
    targets: headTargets(dispatch),
    body: merged,
    grown: Buffer.byteLength(merged) - Buffer.byteLength(stored),
  });
  unit.setMessages(claim, ref, now);
  if (claiming === 'now') unit.claim(claim);
  if (work.kind === 'deliveries') openDeliveries(unit, row, dispatch, steps, (index) => !hasEnded(steps, index), now);
  return { kind: 'stored', ref, continued: { id, accepted_at, deliveries, steps } };
}

/** True for the change that made the holder hold the row: its result was lost, and it is repeated. */
const isOwn = ({ holder }: WorkRow, work: Accept['work']): boolean => work.kind === 'held' && work.holder === holder;

/** Sends the text of an ended dispatch again. */
export function resend(unit: WorkUnit, { ref, key, again, by, now }: Headed<Resend>): MutationResults['resend'] {
  const { rows } = unit;
  if (rows.work.get(ref) !== undefined) return { kind: 'open' };
  const row = rows.ended.get(ref);
  const dispatch = decodeOr<Dispatch | null>(rows.bodyOf(ref), isDispatch, null);
  if (row === undefined || dispatch === null) return { kind: 'unknown' };
  if (row.state === 'done' && !again) return { kind: 'done' };
  for (const [index, name] of claimKeys(key).entries()) {
    const known = rows.messages.get(rows.keyOf(name)) ?? { ref, ttl_ms: TTL_MS };
    if (known.ref === ref) {
      unit.setMessage(rows.keyOf(name), known);
      unit.claimName(name, now + known.ttl_ms);
    } else if (index === 0 && !again) return { kind: 'superseded', by: known.ref };
  }
  const steps = unit.stepsOf(row);
  unit.reopen(row, now);
  if (by !== undefined)
    unit.move(row, { to: 'delivering', at: now, steps: [actionStep({ outcome: 'replayed', at: now, by })] });
  const last = (index: number): Step | undefined => steps.findLast((step) => step.index === index);
  const isMeant = (index: number): boolean => (again ? last(index)?.outcome !== 'withdrawn' : !hasEnded(steps, index));
  openDeliveries(unit, row, dispatch, steps, isMeant, now);
  return { kind: 'stored' };
}

/** Claims the id and the guard of a message that is done or rejected, and releases those of a dead one. */
export function settleClaim(unit: WorkUnit, ref: Ref, key: ClaimKey, isOver: boolean, at: number): void {
  for (const name of claimKeys(key)) {
    const known = unit.rows.messages.get(unit.rows.keyOf(name));
    if (known?.ref === ref) unit.claimName(name, isOver ? at + known.ttl_ms : at);
  }
}

/** Makes these deliveries due, or blocks those that are not released. If there are none, the dispatch is done. */
function openDeliveries(
  unit: WorkUnit,
  row: WorkRow,
  { profile, deliveries }: Dispatch,
  steps: readonly Step[],
  isMeant: (index: number) => boolean,
  now: number,
): void {
  const isReleased = (index: number): boolean => answerOf(steps, index)?.outcome === 'approved';
  const open = deliveries.flatMap((delivery, index) =>
    isMeant(index) ? openDelivery(delivery, index, now, isReleased(index)) : [],
  );
  unit.addDeliveries(row.ref, profile, open, now);
  if (open.length === 0) unit.move(row, { to: 'done', at: now });
}

type Rendered = Pick<Dispatch, 'prompt' | 'deliveries'>;

/**
 * The deliveries of a row that a further attempt continues. Two deliveries are the same if target and address are, and
 * also the text if pieces of it were sent. A delivery that the new attempt lacks stays at its index, to which its steps
 * refer; it is withdrawn unless it has succeeded. A release of another text is withdrawn too.
 */
function mergeDeliveries(
  before: Rendered,
  next: Rendered,
  steps: readonly Step[],
  at: number,
): { readonly deliveries: Dispatch['deliveries']; readonly withdrawn: readonly Step[] } {
  const left = [...next.deliveries];
  const withdrawn: Step[] = [];
  const kept = before.deliveries.map((delivery, index) => {
    const last = steps.findLast((step) => step.kind === 'delivery' && step.index === index);
    const isCut = last !== undefined && last.outcome !== 'ok' && last.sent > 0 && before.prompt !== next.prompt;
    const place = isCut ? -1 : left.findIndex((one) => isSame(one, delivery));
    const [same] = place < 0 ? [] : left.splice(place, 1);
    if (same === undefined && !hasEnded(steps, index)) withdrawn.push(withdrawnStep(index, last?.sent ?? 0, at));
    // A release is for the text that was shown.
    else if (before.prompt !== next.prompt && answerOf(steps, index)?.outcome === 'approved')
      withdrawn.push({ ...withdrawnStep(index, last?.sent ?? 0, at), outcome: 'rejected' });
    return same ?? delivery;
  });
  return { deliveries: [...kept, ...left], withdrawn };
}

const isSame = (a: Dispatch['deliveries'][number], b: Dispatch['deliveries'][number]): boolean =>
  realTarget(a.target) === realTarget(b.target) && isDeepStrictEqual([a.extra, a.place], [b.extra, b.place]);

export const withdrawnStep = (index: number, sent: number, at: number): Step => ({
  kind: 'delivery',
  index,
  outcome: 'withdrawn',
  started_at: at,
  at,
  next_at: null,
  reason: "replaced: the sender's retry has a different target, address or text",
  sent,
  message_id: null,
});
