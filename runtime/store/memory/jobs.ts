/** The jobs of the store that forgets: the model of sqlite/jobs.ts. */

import type { Dispatch } from '../../../schemas/generated/types.ts';
import type {
  FireJob,
  JobMutation,
  JobMutationResults,
  JobReader,
  JobRecord,
  JobState,
  JobTick,
  TickJob,
} from '../job-mutations.ts';
import { NO_STATE } from '../job-mutations.ts';
import type { Ref, StoredClaim } from '../mutations.ts';
import type { DispatchState } from '../states.ts';

/** What the jobs need of the store around them. */
export interface JobSurroundings {
  insert(dispatch: Dispatch, now: number): Ref;
  toInbox(ref: Ref): void;
  /** False: the id is held already. */
  claim(claim: StoredClaim | null, now: number): boolean;
  isClaimed(claim: StoredClaim | null, now: number): boolean;
  stateOf(ref: Ref): DispatchState | null;
}

type JobHandlers = {
  readonly [K in JobMutation['kind']]: (mutation: Extract<JobMutation, { kind: K }>) => JobMutationResults[K];
};

export class MemoryJobs implements JobReader {
  private readonly records = new Map<string, JobRecord>();
  private readonly standing = new Map<string, JobState>();
  private readonly instants = new Map<string, Map<number, JobTick>>();
  private changes = 0;
  private readonly around: JobSurroundings;

  constructor(around: JobSurroundings) {
    this.around = around;
  }

  readonly handlers: JobHandlers = {
    put_job: ({ job, expect }) => {
      if (expect === 'old' && !this.records.has(job.id)) return 'unknown';
      const isTaken = [...this.records.values()].some(
        (other) => other.id !== job.id && other.profile === job.profile && other.name === job.name,
      );
      if (isTaken || (expect === 'new' && this.records.has(job.id))) return 'name_taken';
      this.records.set(job.id, job);
      this.changes += 1;
      return 'stored';
    },
    remove_job: ({ id }) => {
      if (!this.records.delete(id)) return false;
      this.standing.delete(id);
      this.changes += 1;
      return true;
    },
    pause_job: ({ job, paused, now }) => {
      this.change(job, paused ? { paused } : { paused, cursor: now });
      this.changes += 1;
      return null;
    },
    watch_job: ({ job, signature, now }) => {
      this.change(job, { signature, cursor: now });
      return null;
    },
    tick_job: (m) => this.tick(m),
    fire_job: (m) => this.fire(m),
    forget_ticks: ({ before, limit }) => {
      const old = [...this.instants.values()].flatMap((ticks) =>
        [...ticks.keys()].filter((at) => at < before).map((at) => ({ ticks, at })),
      );
      for (const { ticks, at } of old.slice(0, limit)) ticks.delete(at);
      return Math.min(limit, old.length);
    },
  };

  private tick(m: TickJob): JobMutationResults['tick_job'] {
    const state = this.state(m.job);
    const ticks = this.instants.get(m.job) ?? new Map<number, JobTick>();
    this.instants.set(m.job, ticks);
    if (ticks.has(m.due_at) || m.due_at <= (state.cursor ?? Number.NEGATIVE_INFINITY)) return { kind: 'claimed' };
    this.change(m.job, { cursor: m.due_at });
    if (state.paused ?? m.paused) return { kind: 'paused' };
    const note = (outcome: JobTick['outcome'], ref: Ref | null): void => {
      ticks.set(m.due_at, { due_at: m.due_at, outcome, ref, missed: m.missed });
    };
    if (m.dispatch === null) {
      note('missed', null);
      return { kind: 'missed' };
    }
    if (this.isRunning(m.job)) {
      note('overlapped', null);
      return { kind: 'running' };
    }
    const ref = this.around.insert(m.dispatch, m.now);
    this.change(m.job, { ref });
    note('fired', ref);
    return { kind: 'stored', ref };
  }

  private fire(m: FireJob): JobMutationResults['fire_job'] {
    if (this.around.isClaimed(m.claim, m.now)) return { kind: 'duplicate' };
    if (!m.even_paused && (this.state(m.job).paused ?? m.paused)) return { kind: 'paused' };
    this.around.claim(m.claim, m.now);
    if (this.isRunning(m.job)) return { kind: 'running' };
    const ref = this.around.insert(m.dispatch, m.now);
    if (m.inbox) this.around.toInbox(ref);
    this.change(m.job, { ref });
    return { kind: 'stored', ref };
  }

  private change(job: string, to: Partial<JobState>): void {
    this.standing.set(job, { ...this.state(job), ...to });
  }

  list(): readonly JobRecord[] {
    return [...this.records.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  state(job: string): JobState {
    return this.standing.get(job) ?? NO_STATE;
  }

  states(): ReadonlyMap<string, JobState> {
    return new Map(this.standing);
  }

  isRunning(job: string): boolean {
    const { ref } = this.state(job);
    const state = ref === null ? null : this.around.stateOf(ref);
    return state === 'pending' || state === 'running';
  }

  ticks(job: string, limit: number): readonly JobTick[] {
    return [...(this.instants.get(job)?.values() ?? [])].sort((a, b) => b.due_at - a.due_at).slice(0, limit);
  }

  version(): number {
    return this.changes;
  }
}
