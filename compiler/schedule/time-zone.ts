/** Recognises IANA time zones, and suggests zones for other names. */

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

/** Abbreviations that are not zone names, each with the most populous zone that uses it. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  CEST: 'Europe/Berlin',
  BST: 'Europe/London',
  WEST: 'Europe/Lisbon',
  EEST: 'Europe/Athens',
  MSK: 'Europe/Moscow',
  EDT: 'America/New_York',
  CST: 'America/Chicago',
  CDT: 'America/Chicago',
  MDT: 'America/Denver',
  PST: 'America/Los_Angeles',
  PDT: 'America/Los_Angeles',
  IST: 'Asia/Kolkata',
  SGT: 'Asia/Singapore',
  JST: 'Asia/Tokyo',
  AEST: 'Australia/Sydney',
  AEDT: 'Australia/Sydney',
};

/** Zones for a city (`Berlin`, `new york`) or an abbreviation. */
export function similarZones(name: string): readonly string[] {
  const abbreviated = ABBREVIATIONS[name.toUpperCase()];
  if (abbreviated !== undefined) return [abbreviated];
  const city = name.trim().toLowerCase().replaceAll(' ', '_');
  return timeZones().filter((zone) => zone.slice(zone.lastIndexOf('/') + 1).toLowerCase() === city);
}

/** All zones that this machine knows, for suggestions. */
export function timeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}
