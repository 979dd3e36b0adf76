/** The zone a command line asks for. */

import { isTimeZone, timeZones } from '../../compiler/schedule/time-zone.ts';
import { didYouMean } from '../../compiler/text/suggest.ts';
import { UsageError } from '../base/errors.ts';

/** @throws UsageError if it is not an IANA zone */
export function chooseTimezone(asked: string | undefined, otherwise: string): string {
  if (asked === undefined) return otherwise;
  if (isTimeZone(asked)) return asked;
  throw new UsageError(
    `"${asked}" is no time zone${didYouMean(asked, timeZones())}`,
    'zones have names such as Europe/Berlin',
  );
}
