/** What a driver can say about its binding without delivering anything, for `hookwright doctor`. */

export interface Probe {
  /** A few words: what was checked. */
  readonly check: string;
  readonly status: 'ok' | 'failed' | 'skipped';
  /** What was found; no secret. */
  readonly detail: string;
  /** What to do about it; null unless it failed. */
  readonly fix: string | null;
  /** The clock of the other side, unix ms, when it told. */
  readonly server_time: number | null;
}

export interface ProbeOptions {
  /** Talk to the service; otherwise check this machine alone. */
  readonly live: boolean;
  readonly signal: AbortSignal;
}

export function probed(check: string, detail: string, server_time: number | null = null): Probe {
  return { check, status: 'ok', detail, fix: null, server_time };
}

export function probeFailed(check: string, detail: string, fix: string): Probe {
  return { check, status: 'failed', detail, fix, server_time: null };
}

export const notLive = (check: string): Probe => ({
  check,
  status: 'skipped',
  detail: 'looked at with --live',
  fix: null,
  server_time: null,
});
