/** Tells public addresses from those that only this machine, its network or its cloud can reach. */
import { BlockList, isIP } from 'node:net';

/** IANA's registries of special-purpose addresses, and multicast; addresses that embed an IPv4 address are none but that one. */
const SPECIAL = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Only global unicast (2000::/3) is public, without Teredo and other protocols (2001::/23), documentation, 6to4 and others. */
const SPECIAL_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3ffe::/16', '3fff::/20'];

/** The code of a failure: a host has an address that must not be connected to. */
export const NOT_PUBLIC = 'NOT_PUBLIC';

interface Lists {
  readonly special: BlockList;
  readonly global: BlockList;
}

let made: Lists | undefined;

function lists(): Lists {
  if (made !== undefined) return made;
  const special = new BlockList();
  const global = new BlockList();
  const add = (list: BlockList, network: string, family: 'ipv4' | 'ipv6'): void => {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), family);
  };
  for (const network of SPECIAL) add(special, network, 'ipv4');
  for (const network of SPECIAL_6) add(special, network, 'ipv6');
  add(global, '2000::/3', 'ipv6');
  made = { special, global };
  return made;
}

/** False for what is no IP address, and for IPv4 addresses in the form of IPv6. @param address without brackets */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return false;
  const { special, global } = lists();
  if (version === 4) return !special.check(address, 'ipv4');
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
}
