/** Parses the entries of `trusted_proxies`: addresses and networks (`10.0.0.0/8`, `2001:db8::/32`). */
import type { NetworkPlan } from '../../schemas/generated/types.ts';

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const GROUP = /^[0-9a-f]{1,4}$/i;

/** Advice for proxies that have no fixed address. */
export const PROXIES =
  'write where the proxy connects from: `trusted_proxies: [127.0.0.1]` for this machine, `[172.16.0.0/12]` for a container; names are not looked up';

/** Returns null if the text is neither. */
export function parseNetwork(text: string): NetworkPlan | null {
  const [address = '', prefix, ...rest] = text.split('/');
  if (rest.length > 0 || (prefix !== undefined && !/^(0|[1-9]\d{0,2})$/.test(prefix))) return null;
  const family = IPV4.test(address) ? 'ipv4' : isIpv6(address) ? 'ipv6' : null;
  if (family === null) return null;
  const bits = family === 'ipv4' ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  return length > bits ? null : { address, prefix: length, family };
}

/** Eight groups; `::` replaces one or more of them, and an IPv4 address may replace the last two. */
function isIpv6(address: string): boolean {
  const halves = address.split('::');
  if (halves.length > 2 || !address.includes(':')) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1);
  const hex = last !== undefined && IPV4.test(last) ? [...groups.slice(0, -1), '0', '0'] : groups;
  return hex.every((group) => GROUP.test(group)) && (halves.length === 2 ? hex.length < 8 : hex.length === 8);
}
