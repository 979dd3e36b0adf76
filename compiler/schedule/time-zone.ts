/** Tells IANA time zones from text that only looks like one. */

/** Whether this machine's time zone data has the zone. Offsets such as `+02:00` are no zones: they have no rules. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Abbreviations that are no zone's name, each with the largest zone that uses it. */
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

/** Zones that a city (`Berlin`, `new york`) or an abbreviation means. */
export function zonesLike(name: string): readonly string[] {
  const abbreviated = ABBREVIATIONS[name.toUpperCase()];
  if (abbreviated !== undefined) return [abbreviated];
  const city = name.trim().toLowerCase().replaceAll(' ', '_');
  return timeZones().filter((zone) => zone.slice(zone.lastIndexOf('/') + 1).toLowerCase() === city);
}

/** Every zone this machine knows, for suggestions. */
export function timeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}
