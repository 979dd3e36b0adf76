/** Moving a dispatch from state to state, as SQL. */
import type Database from 'libsql';
import { claimKey } from '../claim-key.ts';
import type { Advance, MutationHandlers, Ref } from '../mutations.ts';
import { isFailure } from '../mutations.ts';
import type { DispatchState } from '../states.ts';
import { canAdvance, isFinal } from '../states.ts';
import { stepId, stepIds } from './keys.ts';
import type { NewRows } from './new-rows.ts';
import type { OpenRow, OpenRows } from './open-rows.ts';
import type { TallyWriter } from './tally-writer.ts';

/** A dispatch as it was found; it may have ended. */
type Found = Omit<OpenRow, 'state'> & { readonly state: DispatchState };

export interface AdvanceParts {
  readonly rows: NewRows;
  readonly open: OpenRows;
  readonly tally: TallyWriter;
}

export function createAdvance(db: Database.Database, parts: AdvanceParts): MutationHandlers['advance'] {
  const { rows, open, tally } = parts;
  const find = createFind(db);
  const update = db.prepare(
    'UPDATE work SET state = ?, reason = ?, ready_at = coalesce(?, ready_at), started_at = coalesce(?, started_at), ' +
      'answered_at = coalesce(?, answered_at), finished_at = ? WHERE ref = ? AND state = ?',
  );
  const writeRest = createRest(db);
  const move = (m: Advance, found: Found): boolean => {
    const { ref, to, at } = m;
    const reason = m.reason === undefined ? null : JSON.stringify(m.reason);
    const started = m.started_at ?? (to === 'running' ? at : null);
    const answered = m.answer === undefined ? null : at;
    const ended = isFinal(to) ? at : null;
    const row = [to, reason, m.ready_at ?? null, started, answered, ended, ref, found.state];
    if (update.run(row).changes === 0) return false;
    if (m.answer !== undefined) rows.answers.add(ref, JSON.stringify(m.answer));
    let steps = found.steps;
    for (const step of m.steps ?? []) rows.steps.add(stepId(ref, ++steps), JSON.stringify(step));
    if (isFinal(to)) open.forget(ref);
    else open.add(ref, { ...found, state: to, steps });
    writeRest(m, found);
    if (found.state !== to) {
      tally.add(found.profile, found.route, found.state, -1);
      tally.add(found.profile, found.route, to, 1);
    }
    return true;
  };
  return (m) => {
    const known = open.get(m.ref);
    if (known !== undefined && canAdvance(known.state, m) && move(m, known)) return true;
    // Its steps may still be among the new rows.
    rows.flush();
    const found = find(m.ref);
    return found !== null && canAdvance(found.state, m) && move(m, found);
  };
}

function createFind(db: Database.Database): (ref: Ref) => Found | null {
  const find = db
    .prepare(
      'SELECT w.state, d.profile, d.route, d.id, (SELECT max(id) FROM step WHERE id BETWEEN ? AND ?) ' +
        'FROM work w JOIN dispatch d USING (ref) WHERE ref = ?',
    )
    .raw();
  return (ref) => {
    const [first, last] = stepIds(ref);
    const row = find.get([first, last, ref]) as
      | [DispatchState, string, string | null, string, number | null]
      | undefined;
    if (row === undefined) return null;
    const [state, profile, route, id, latest] = row;
    return { state, profile, route, id, steps: latest === null ? 0 : latest - first };
  };
}

function createRest(db: Database.Database): (m: Advance, found: Found) => void {
  const claim = db.prepare('INSERT OR REPLACE INTO claim (key, expires_at) VALUES (?, ?)');
  const fail = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('last_error', ?)");
  return (m, { id, route }) => {
    if (m.claim !== undefined) claim.run([claimKey(m.claim), m.claim.expires_at]);
    if (isFailure(m)) fail.run([JSON.stringify({ id, route, at: m.at, reason: m.reason })]);
  };
}
