/** A time zone that does not exist. */
import type { NodePath } from '../diagnostics/problem.ts';
import { isTimeZone, similarZones, timeZones } from '../schedule/time-zone.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';
import type { Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const invalidTimezone = rule('invalid-timezone', {
  config({ config }, report) {
    checkZone(config.gateway?.timezone, ['gateway', 'timezone'], report);
  },
  job({ config }, report) {
    checkZone(config.timezone, ['timezone'], report);
  },
});

function checkZone(zone: string | undefined, path: NodePath, report: Reporter): void {
  if (zone === undefined || isTimeZone(zone)) return;
  const [sure] = similarZones(zone);
  if (sure !== undefined) {
    const message = `\`${zone}\` is not an IANA time zone: write, for example, \`${sure}\``;
    report({ path, at: 'value', message });
    return;
  }
  const message = `\`${zone}\` is not a time zone${didYouMean(zone, timeZones())}`;
  const hint = 'use an IANA name: `Europe/Berlin`, `America/New_York`, `UTC`';
  report({ path, at: 'value', message, hint, ...renameFix(zone, timeZones()) });
}
