/** Compares this machine's clock with those of the services it reached: signatures and schedules depend on it. */
import type { Check } from '../../../../cli/base/check.ts';
import { gatewayCheck } from '../../../../cli/base/check.ts';

/** A larger difference is a fault, in ms; from 300 s on, senders' timestamps are refused (§8). */
const WARN_MS = 5000;
const FAIL_MS = 60_000;

/** `skews`: ours minus theirs, in ms. The smallest counts: one wrong clock elsewhere proves nothing. */
export function checkClock(skews: readonly number[], live: boolean): Check {
  const about = { subject: 'clock', check: 'skew' };
  const skew = [...skews].sort((left, right) => Math.abs(left) - Math.abs(right))[0];
  if (skew === undefined) {
    const detail = live ? 'no service told its time' : 'looked at with --live';
    return gatewayCheck({ ...about, status: 'skipped', detail });
  }
  const seconds = Math.round(Math.abs(skew) / 1000);
  const detail = seconds === 0 ? 'agrees with the services' : `${seconds} s ${skew > 0 ? 'ahead' : 'behind'}`;
  const status = Math.abs(skew) > FAIL_MS ? 'failed' : Math.abs(skew) > WARN_MS ? 'warning' : 'ok';
  if (status === 'ok') return gatewayCheck({ ...about, status, detail });
  return gatewayCheck({ ...about, status, detail, fix: 'synchronise the clock of this machine (NTP)' });
}
