/** A time zone that does not exist. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { isTimeZone, timeZones, zonesLike } from '../schedule/time-zone.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';
import type { Rule } from './support/rule.ts';

export const invalidTimezone: Rule = {
  id: 'invalid-timezone',
  severity: 'error',
  title: '`timezone` is not the name of an IANA zone.',
  why: 'Jobs would run at the wrong hour, or not at all.',
  checkConfig({ config }) {
    return checkZone(config.gateway?.timezone, ['gateway', 'timezone']);
  },
  checkJob({ config }) {
    return checkZone(config.timezone, ['timezone']);
  },
};

function checkZone(zone: string | undefined, path: NodePath): readonly Problem[] {
  if (zone === undefined || isTimeZone(zone)) return [];
  const [sure] = zonesLike(zone);
  if (sure !== undefined) {
    const message = `\`${zone}\` is not an IANA time zone: write for example \`${sure}\``;
    return [{ rule: 'invalid-timezone', path, at: 'value', message }];
  }
  const message = `\`${zone}\` is not a time zone${didYouMean(zone, timeZones())}`;
  const hint = 'use an IANA name: `Europe/Berlin`, `America/New_York`, `UTC`';
  return [{ rule: 'invalid-timezone', path, at: 'value', message, hint, ...renameFix(zone, timeZones()) }];
}
