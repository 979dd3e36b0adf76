/**
 * Refuses connections that the proxy of a sandbox must not make: to the ports of the gateway, whatever `network` lists, and tunnels to a
 * host that gets a secret, because their content cannot be searched. launch.mjs puts these functions around those of Node.js
 * with which the proxy connects.
 */
import { lookup as resolve } from 'node:dns';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { BlockList, isIP, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

/** TCP_LISTEN, in /proc/net/tcp. */
const LISTENS = '0A';

export const localAddresses = () =>
  Object.values(networkInterfaces()).flatMap((each) => each.map(({ address }) => address.replace(/%.*$/, '')));

/**
 * To the gateway, a connection from this machine may be the operator's.
 * @returns a function that tells whether the gateway listens at the address, or may do so because its ports cannot be read
 */
export const ownPorts = (gateway) => (address, port) => {
  try {
    return isHere(address) && listening(gateway).has(port);
  } catch {
    return true;
  }
};

/** IPv4 addresses match in IPv6 notation too. */
function isHere(address = '') {
  const here = new BlockList();
  here.addSubnet('127.0.0.0', 8);
  here.addSubnet('0.0.0.0', 8);
  for (const each of ['::1', '::', ...localAddresses()]) here.addAddress(each, `ipv${isIP(each)}`);
  return isIP(address) > 0 && here.check(address, `ipv${isIP(address)}`);
}

function listening(pid) {
  const linkOf = (fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  };
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map(linkOf));
  const tables = readdirSync(`/proc/${pid}/net`).filter((name) => /^tcp6?$/.test(name));
  const lines = tables.flatMap((name) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n'));
  const sockets = lines.map((line) => line.trim().split(/\s+/)).filter(([, , , state]) => state === LISTENS);
  const ours = sockets.filter((fields) => own.has(`socket:[${fields[9]}]`));
  return new Set(ours.map(([, local]) => Number.parseInt(local.split(':').at(-1), 16)));
}

const OWN = 'the gateway uses this port';
const TUNNEL = 'a tunnel to a host that gets a secret cannot be searched for it';

/** @param say reports a refused connection @returns functions that replace `net.connect`, and those of `http` and `https` */
export function guardConnections({ isOwn, isReceiver, say }) {
  const refusal = ({ host, port }, reason) => {
    say(`deny network-outbound ${host}:${port}: ${reason}`);
    return new Error(reason);
  };
  const connect =
    (original) =>
    (options, ...rest) => {
      const { host, port, lookup = resolve } = options;
      if (isOwn(host, port)) return new Socket().destroy(refusal(options, OWN));
      const checked = (name, how, done) =>
        lookup(name, how, (error, found, family) => {
          const isRefused = [found].flat().some((each) => isOwn(each?.address ?? each, port));
          done(isRefused ? refusal(options, OWN) : error, found, family);
        });
      const socket = original(host === undefined ? options : { ...options, lookup: checked }, ...rest);
      // The proxy also connects to find the address for a request. Only a tunnel is piped.
      const pipe = () => socket.destroy(refusal(options, TUNNEL));
      return isReceiver(`${host}`) ? Object.assign(socket, { pipe, write: () => true }) : socket;
    };
  const request = (original) => (options, respond) => {
    if (isOwn(options.host, options.port)) throw refusal(options, OWN);
    return original(options, respond);
  };
  return { connect, request };
}
