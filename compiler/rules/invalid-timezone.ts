/** A time zone that does not exist. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { isTimeZone, similarZones, timeZones } from '../schedule/time-zone.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';
import type { ViewRule } from './support/view-rule.ts';

export const invalidTimezone = {
  id: 'invalid-timezone',
  checkConfig({ config }): readonly Problem[] {
    return checkZone(config.gateway?.timezone, ['gateway', 'timezone']);
  },
  checkJob({ config }): readonly Problem[] {
    return checkZone(config.timezone, ['timezone']);
  },
} as const satisfies ViewRule;

function checkZone(zone: string | undefined, path: NodePath): readonly Problem[] {
  if (zone === undefined || isTimeZone(zone)) return [];
  const [sure] = similarZones(zone);
  if (sure !== undefined) {
    const message = `\`${zone}\` is not an IANA time zone: write, for example, \`${sure}\``;
    return [{ rule: 'invalid-timezone', path, at: 'value', message }];
  }
  const message = `\`${zone}\` is not a time zone${didYouMean(zone, timeZones())}`;
  const hint = 'use an IANA name: `Europe/Berlin`, `America/New_York`, `UTC`';
  return [{ rule: 'invalid-timezone', path, at: 'value', message, hint, ...renameFix(zone, timeZones()) }];
}
