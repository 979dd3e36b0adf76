/** What a driver can find out about its binding without delivering anything, for `hookwright doctor`. */

export interface Probe {
  /** What was checked, in a few words. */
  readonly check: string;
  readonly status: 'ok' | 'failed' | 'skipped';
  /** What was found, without secrets. */
  readonly detail: string;
  /** What to do about a failure; null unless it failed. */
  readonly fix: string | null;
  /** The server's clock, in Unix ms; null when unknown. */
  readonly server_time: number | null;
}

export interface ProbeOptions {
  /** Contact the service; otherwise check only this machine. */
  readonly live: boolean;
  readonly signal: AbortSignal;
}

export function probed(check: string, detail: string, server_time: number | null = null): Probe {
  return { check, status: 'ok', detail, fix: null, server_time };
}

export function probeFailed(check: string, detail: string, fix: string): Probe {
  return { check, status: 'failed', detail, fix, server_time: null };
}

export function probeSkipped(check: string, detail: string): Probe {
  return { check, status: 'skipped', detail, fix: null, server_time: null };
}

export const notLive = (check: string): Probe => probeSkipped(check, 'looked at with --live');
