/** How commands say for how long a route or job is paused. */

/** Unix ms at which a pause of `ms` ends that begins now; null for one without an end. */
export const pausedUntil = (ms: number | undefined, now: number): number | null =>
  ms === undefined ? null : Math.round(now + ms);

/** `paused until …`, `paused`, `resumed`. */
export function describePause(paused: boolean, until: number | null): string {
  if (!paused) return 'resumed';
  return until === null ? 'paused' : `paused until ${new Date(until).toISOString()}`;
}
