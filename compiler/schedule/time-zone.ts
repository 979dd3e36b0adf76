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

/** Every zone this machine knows, for suggestions. */
export function timeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}
