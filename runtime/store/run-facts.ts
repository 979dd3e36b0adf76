/** What is known of the run of a dispatch, from what is stored of it: for commands and for programs that embed the runtime. */
import type { DispatchSummary, StoredDispatch } from './queries.ts';
import type { ProgramEnd } from './states.ts';

export interface RunFacts extends Required<ProgramEnd> {
  /** Of the latest run, in ms; null: none has ended, or there was none. */
  readonly duration_ms: number | null;
  /** Runs that have begun. */
  readonly attempts: number;
}

type Instants = Pick<DispatchSummary, 'started_at' | 'answered_at' | 'finished_at'>;

/** How long the latest run took, in ms; null: it has not ended, or there was none. */
export function runDuration({ started_at, answered_at, finished_at }: Instants): number | null {
  const ended = answered_at ?? finished_at;
  return started_at === null || ended === null ? null : Math.max(0, ended - started_at);
}

/** Exit code, signal and stderr are those of the latest run that ended: null and empty where its agent is no program. */
export function runFacts(stored: StoredDispatch): RunFacts {
  const { steps, state, started_at, answer } = stored;
  const failed = steps.filter(({ kind }) => kind === 'run');
  const last = failed.at(-1);
  const hasAnswered = started_at !== null && answer !== null;
  const {
    exit_code = null,
    signal = null,
    stderr = '',
    denied = [],
  } = (hasAnswered ? stored.program : last?.program) ?? {};
  const duration = runDuration(stored) ?? (last === undefined ? null : Math.max(0, last.at - last.started_at));
  const attempts = failed.length + (hasAnswered || state === 'running' ? 1 : 0);
  return { exit_code, signal, duration_ms: duration, attempts, stderr, denied };
}
