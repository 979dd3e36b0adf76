/** Moving a dispatch from state to state, as SQL. */
import type Database from 'libsql';
import type { Advance, MutationHandlers } from '../mutations.ts';
import { isFailure } from '../mutations.ts';
import type { DispatchState } from '../states.ts';
import { canAdvance, isFinal } from '../states.ts';
import { claimKey } from './keys.ts';
import type { TallyWriter } from './tally-writer.ts';

type Found = readonly [state: DispatchState, profile: string, route: string | null, id: string];

export function createAdvance(db: Database.Database, tally: TallyWriter): MutationHandlers['advance'] {
  const find = db
    .prepare('SELECT w.state, d.profile, d.route, d.id FROM work w JOIN dispatch d USING (ref) WHERE ref = ?')
    .raw();
  const update = db.prepare(
    'UPDATE work SET state = ?, reason = ?, ready_at = coalesce(?, ready_at), started_at = coalesce(?, started_at), ' +
      'answered_at = coalesce(?, answered_at), finished_at = ? WHERE ref = ?',
  );
  const writeDetails = createDetails(db);
  return (m) => {
    const { ref, to, at } = m;
    const row = find.get([ref]) as Found | undefined;
    if (row === undefined || !canAdvance(row[0], to)) return false;
    const [from, profile, route, id] = row;
    const reason = m.reason === undefined ? null : JSON.stringify(m.reason);
    const started = m.started_at ?? (to === 'running' ? at : null);
    const answered = m.answer === undefined ? null : at;
    update.run([to, reason, m.ready_at ?? null, started, answered, isFinal(to) ? at : null, ref]);
    writeDetails(m, id, route);
    if (from !== to) {
      tally.add(profile, route, from, -1);
      tally.add(profile, route, to, 1);
    }
    return true;
  };
}

function createDetails(db: Database.Database): (m: Advance, id: string, route: string | null) => void {
  const answer = db.prepare('INSERT OR REPLACE INTO answer (ref, text) VALUES (?, ?)');
  const step = db.prepare(
    'INSERT INTO step (ref, n, data) SELECT ?1, coalesce(max(n), 0) + 1, ?2 FROM step WHERE ref = ?1',
  );
  const claim = db.prepare('INSERT OR REPLACE INTO claim (key, expires_at) VALUES (?, ?)');
  const fail = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('last_error', ?)");
  return (m, id, route) => {
    if (m.answer !== undefined) answer.run([m.ref, JSON.stringify(m.answer)]);
    for (const data of m.steps ?? []) step.run([m.ref, JSON.stringify(data)]);
    if (m.claim !== undefined) claim.run([claimKey(m.claim), m.claim.expires_at]);
    if (isFailure(m)) fail.run([JSON.stringify({ id, route, at: m.at, reason: m.reason })]);
  };
}
