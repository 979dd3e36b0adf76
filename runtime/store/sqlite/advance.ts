/** Taking a stored dispatch from state to state, as SQL. */
import type Database from 'libsql';
import type { Advance, Ref } from '../mutations.ts';
import type { DispatchState } from '../states.ts';
import { canAdvance, isFinal } from '../states.ts';
import { stepId, stepIds } from './keys.ts';
import type { OpenRow, OpenRows } from './open-rows.ts';
import type { TallyWriter } from './tally-writer.ts';

/** A dispatch goes to a state. */
export interface AdvanceRow {
  readonly ref: Ref;
  readonly to: DispatchState;
  readonly at: number;
  /** JSON. */
  readonly reason: string | null;
  readonly ready_at: number | null;
  readonly started_at: number | null;
  /** JSON. */
  readonly answer: string | null;
  /** JSON of each. */
  readonly steps: readonly string[];
}

export function toAdvanceRow({ ref, to, at, reason, ready_at, started_at, answer, steps }: Advance): AdvanceRow {
  return {
    ref,
    to,
    at,
    reason: reason === undefined ? null : JSON.stringify(reason),
    ready_at: ready_at ?? null,
    started_at: started_at ?? (to === 'running' ? at : null),
    answer: answer === undefined ? null : JSON.stringify(answer),
    steps: steps === undefined ? [] : steps.map((step) => JSON.stringify(step)),
  };
}

/** A dispatch as it was found; it may have ended. */
export type Found = Omit<OpenRow, 'state'> & { readonly state: DispatchState };

export interface Advancer {
  /** Answers what the dispatch was before; null: unknown, or the way is barred. */
  advance(row: AdvanceRow): Found | null;
}

/** True when a dispatch can go from `state` where the row wants it. */
export const allows = (state: DispatchState, { to, answer }: AdvanceRow): boolean =>
  canAdvance(state, answer === null ? { to } : { to, answer });

export function createAdvancer(db: Database.Database, open: OpenRows, tally: TallyWriter): Advancer {
  const query = createFind(db);
  const find = (ref: Ref): Found | null => open.get(ref) ?? query(ref);
  const update = db.prepare(
    'UPDATE work SET state = ?, reason = ?, ready_at = coalesce(?, ready_at), started_at = coalesce(?, started_at), ' +
      'answered_at = coalesce(?, answered_at), finished_at = ? WHERE ref = ?',
  );
  const putAnswer = db.prepare('INSERT OR REPLACE INTO answer (ref, text) VALUES (?, ?)');
  const addStep = db.prepare('INSERT INTO step (id, data) VALUES (?, ?)');
  return {
    advance(row) {
      const { ref, to, at, answer } = row;
      const found = find(ref);
      if (found === null || !allows(found.state, row)) return null;
      const ended = isFinal(to) ? at : null;
      update.run([to, row.reason, row.ready_at, row.started_at, answer === null ? null : at, ended, ref]);
      if (answer !== null) putAnswer.run([ref, answer]);
      let { steps } = found;
      for (const step of row.steps) addStep.run([stepId(ref, ++steps), step]);
      if (isFinal(to)) open.forget(ref);
      else open.add(ref, { ...found, state: to, steps });
      if (found.state !== to) {
        tally.add(found.profile, found.route, found.state, -1);
        tally.add(found.profile, found.route, to, 1);
      }
      return found;
    },
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
