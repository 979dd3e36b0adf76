/** Advances dispatches after a run or a delivery attempt. */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { endDelivering } from '../delivery-ending.ts';
import type { LargeTexts } from '../encode.ts';
import type { Advance, MutationResults, RecordAttempt, Ref, Step } from '../mutations.ts';
import { canAdvance } from '../states.ts';
import type { Rows } from './rows.ts';
import { stepIds } from './rows.ts';

export const createAdvance =
  (rows: Rows) =>
  (m: Advance, { answer }: LargeTexts): boolean => {
    const { ref, to, at, started_at = null, reason = null, steps = [] } = m;
    const found = rows.find(ref);
    if (found === undefined || found[1] !== m.holder || !canAdvance(found[0], m)) return false;
    const due_at = to === 'pending' ? (m.due_at ?? at) : null;
    rows.move(ref, found, { to, at, due_at, started_at, reason, answer, steps });
    if (to === 'delivering') rows.addDeliveries(ref, rows.counts.ofLane(found[2]).profile, m.open ?? [], at);
    rows.claim(m.claim);
    if (reason !== null && to !== 'skipped') rows.noteError(ref, at, reason);
    return true;
  };

/** Links the statements of `record_attempt`. */
export function createRecordAttempt(rows: Rows): (m: RecordAttempt) => MutationResults['record_attempt'] {
  const { db } = rows;
  const laneOf = db.query<[string]>('SELECT lane FROM delivery WHERE ref = ? AND n = ? AND holder = ?');
  const again = db.change('UPDATE delivery SET due_at = ?, set_at = ?, holder = NULL WHERE ref = ? AND n = ?');
  const end = db.change('DELETE FROM delivery WHERE ref = ? AND n = ?');
  const open = db.query('SELECT 1 FROM delivery WHERE ref = ? LIMIT 1');
  const ending = createEnding(rows);
  return ({ ref, index, holder, at, step, due_at }) => {
    const lane = laneOf.get(ref, index, holder)?.[0];
    const found = rows.find(ref);
    if (lane === undefined || found === undefined) return null;
    if (due_at === null) end(ref, index);
    else {
      again(due_at, at, ref, index);
      rows.attempts.add(lane, due_at, at);
    }
    const steps = step === null ? [] : [step];
    const ended = open.get(ref) === undefined ? ending(ref, steps) : null;
    const reason = ended === null ? (step?.reason ?? null) : ended.reason;
    if (step !== null || ended !== null) rows.move(ref, found, { to: ended?.state ?? 'delivering', at, reason, steps });
    if (reason !== null) rows.noteError(ref, at, reason);
    return ended ?? { state: 'delivering', reason: null };
  };
}

/** Computes the final state after the last delivery. The body is read only when a delivery was given up. */
function createEnding({ db }: Rows): (ref: Ref, latest: readonly Step[]) => ReturnType<typeof endDelivering> {
  const stored = db.query<[string]>('SELECT data FROM step WHERE id BETWEEN ? AND ? ORDER BY id');
  const body = db.query<[string]>('SELECT body FROM dispatch WHERE ref = ?');
  return (ref, latest) => {
    const steps = [...stored.all(...stepIds(ref)).map(([data]) => JSON.parse(data) as Step), ...latest];
    if (steps.every(({ kind, outcome }) => kind === 'run' || outcome === 'ok')) return { state: 'done', reason: null };
    const { deliveries } = JSON.parse(body.get(ref)?.[0] ?? '{"deliveries":[]}') as Pick<Dispatch, 'deliveries'>;
    return endDelivering(deliveries, steps);
  };
}
