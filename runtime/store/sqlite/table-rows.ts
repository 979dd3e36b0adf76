/** New dispatches as rows of their tables, many to a statement. */
import type Database from 'libsql';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Ref } from '../mutations.ts';
import type { OpenState } from '../states.ts';
import { isFinal } from '../states.ts';
import type { AdvanceRow } from './advance.ts';
import { stepId } from './keys.ts';
import type { OpenRows } from './open-rows.ts';
import { RowBuffer } from './row-buffer.ts';
import type { TallyWriter } from './tally-writer.ts';

/** What the table of dispatches keeps of one. */
export interface DispatchRow {
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  readonly mode: Dispatch['mode'];
  readonly accepted_at: number;
  readonly max_concurrent: number | null;
  /** JSON of [event, delivery_id, replay_of]. */
  readonly head: string;
  /** JSON of the dispatch. */
  readonly body: string;
}

/** @param body JSON of the dispatch */
export function dispatchRow(dispatch: Dispatch, body: string, max_concurrent: number | null): DispatchRow {
  const { id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of } = dispatch;
  const head = JSON.stringify([event, delivery_id, replay_of]);
  return { id, profile, route, job, mode, accepted_at, max_concurrent, head, body };
}

/** A dispatch that is not in its tables yet. */
export interface NewDispatch {
  readonly ref: Ref;
  readonly row: DispatchRow;
  readonly state: OpenState;
  /** Null: waits in a coalesce group. */
  readonly readyAt: number | null;
  /** Its delivery id; null: none, or claimed already. */
  readonly claim: string | null;
  readonly expiresAt: number | null;
  /** How it has ended meanwhile. */
  ended: AdvanceRow | null;
}

export class TableRows {
  private readonly dispatches: RowBuffer;
  private readonly work: RowBuffer;
  private readonly answers: RowBuffer;
  private readonly steps: RowBuffer;
  private readonly claims: RowBuffer;
  private readonly open: OpenRows;
  private readonly tally: TallyWriter;

  constructor(db: Database.Database, open: OpenRows, tally: TallyWriter) {
    const dispatch = 'id, profile, route, job, mode, accepted_at, max_concurrent, head, body';
    const work = 'state, reason, ready_at, started_at, answered_at, finished_at';
    this.dispatches = new RowBuffer(db, `INSERT INTO dispatch (ref, ${dispatch})`, 10);
    this.work = new RowBuffer(db, `INSERT INTO work (ref, ${work})`, 7);
    this.answers = new RowBuffer(db, 'INSERT INTO answer (ref, text)', 2);
    this.steps = new RowBuffer(db, 'INSERT INTO step (id, data)', 2);
    this.claims = new RowBuffer(db, 'INSERT OR REPLACE INTO claim (key, expires_at)', 2);
    this.open = open;
    this.tally = tally;
  }

  add({ ref, row: d, state, readyAt, claim, expiresAt, ended }: NewDispatch): void {
    const { id, profile, route } = d;
    this.dispatches.add(ref, id, profile, route, d.job, d.mode, d.accepted_at, d.max_concurrent, d.head, d.body);
    if (claim !== null) this.claims.add(claim, expiresAt);
    this.tally.add(profile, route, 'accepted', 1);
    this.tally.add(profile, route, ended?.to ?? state, 1);
    if (ended === null) {
      this.work.add(ref, state, null, readyAt, null, null, null);
      this.open.add(ref, { state, profile, route, id, steps: 0 });
      return;
    }
    const { to, at, reason, started_at, answer } = ended;
    this.work.add(ref, to, reason, readyAt, started_at, answer === null ? null : at, isFinal(to) ? at : null);
    if (answer !== null) this.answers.add(ref, answer);
    for (const [index, step] of ended.steps.entries()) this.steps.add(stepId(ref, index + 1), step);
  }

  flush(): void {
    for (const rows of this.all()) if (rows.size > 0) rows.flush();
  }

  /** After a rollback. */
  discard(): void {
    for (const rows of this.all()) rows.discard();
  }

  private all(): readonly RowBuffer[] {
    return [this.dispatches, this.work, this.answers, this.steps, this.claims];
  }
}
