/** Determines the client of a request: the peer of the connection, or, behind trusted proxies, the last other hop. */
import { BlockList, isIP } from 'node:net';
import type { NetworkPlan } from '../../schemas/generated/types.ts';

const MAPPED = '::ffff:';
/** The same in the normalised form of a URL. */
const MAPPED_URL = /^http:\/\/\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]/;

/** Converts an IPv4-mapped IPv6 address, in any spelling, to IPv4. */
export function plainAddress(address: string): string {
  const text = address.toLowerCase();
  if (!text.includes('ffff:') || isIP(text) !== 6 || text.includes('%')) return text;
  if (text.startsWith(MAPPED) && isIP(text.slice(MAPPED.length)) === 4) return text.slice(MAPPED.length);
  const [, high, low] = MAPPED_URL.exec(new URL(`http://[${text}]/`).href) ?? [];
  if (high === undefined || low === undefined) return text;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((group) => [group >> 8, group & 255]).join('.');
}

/** Whether the address is of this machine: then it may be a proxy or tunnel for any client. */
export function isLocal(address: string): boolean {
  return address === '::1' || (address.startsWith('127.') && isIP(address) === 4);
}

/**
 * The key under which a client is counted: an IPv4 address, or the first 64 bits of an IPv6 address, because one client
 * usually controls all addresses with that prefix.
 */
export function clientOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const first = groupsOf(head);
  const last = groupsOf(tail ?? '');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  const groups = [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

export class TrustedProxies {
  private readonly list = new BlockList();

  constructor(networks: readonly NetworkPlan[]) {
    for (const { address, prefix, family } of networks) this.list.addSubnet(address, prefix, family);
  }

  has(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.list.check(address, version === 4 ? 'ipv4' : 'ipv6');
  }

  /** The last hop of `X-Forwarded-For` that is not a trusted proxy; null when there is none. */
  clientIn(forwarded: string | readonly string[] | undefined): string | null {
    const hops = String(forwarded ?? '').split(',');
    for (const hop of hops.reverse()) {
      const address = plainAddress(withoutPort(hop.trim()));
      if (isIP(address) === 0) return null;
      if (!this.has(address)) return clientOf(address);
    }
    return null;
  }
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const bracket = /^\[(.*)\](?::\d+)?$/.exec(hop);
  return bracket?.[1] ?? (/^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop);
}
