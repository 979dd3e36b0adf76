/** Recognises IANA time zones, and suggests zones for other names. */
import { ZONES } from './built/words.ts';

/** Whether this machine's time zone data contains the zone. Offsets such as `+02:00` are not zones: they have no rules. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The most populous zones of abbreviations. */
const ZONE_OF: ReadonlyMap<string, string> = new Map(Object.entries(ZONES));

/** Zones for a city (`Berlin`, `new york`) or an abbreviation. */
export function similarZones(name: string): readonly string[] {
  const abbreviated = ZONE_OF.get(name.toUpperCase());
  if (abbreviated !== undefined) return [abbreviated];
  const city = name.trim().toLowerCase().replaceAll(' ', '_');
  return timeZones().filter((zone) => zone.slice(zone.lastIndexOf('/') + 1).toLowerCase() === city);
}

/** All zones that this machine knows, for suggestions. */
export function timeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}
