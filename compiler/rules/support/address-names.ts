/** Common alternative names for the fields of an address. */
import { FIELDS } from './built/address-names.ts';

const SAME: Readonly<Record<string, string>> = FIELDS;

/** The field that an unknown key of `deliver_extra` means, or null. */
export function meantField(key: string, known: readonly string[]): string | null {
  const meant = Object.hasOwn(SAME, key) ? SAME[key] : undefined;
  return meant !== undefined && known.includes(meant) ? meant : null;
}
