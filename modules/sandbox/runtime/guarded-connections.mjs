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
  const version = isIP(address ?? '');
  try {
    return version > 0 && thisMachine().check(address, `ipv${version}`) && listening(gateway).has(port);
  } catch {
    return true;
  }
};

/** IPv4 addresses match in IPv6 notation too. */
function thisMachine() {
  const addresses = new BlockList();
  for (const [net, bits] of [
    ['127.0.0.0', 8],
    ['0.0.0.0', 8],
  ])
    addresses.addSubnet(net, bits);
  for (const address of ['::1', '::', ...localAddresses()]) addresses.addAddress(address, `ipv${isIP(address)}`);
  return addresses;
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

/** @param say reports a refused connection @returns the function that replaces `net.connect` */
export const guardConnect = (connect, { isOwn, isReceiver, say }) => {
  return (options, ...rest) => {
    const { host, port, lookup = resolve } = options;
    if (typeof host !== 'string') return connect(options, ...rest);
    const refusal = (reason) => {
      say(`deny network-outbound ${host}:${port}: ${reason}`);
      return new Error(reason);
    };
    const refuseOwn = () => refusal('the gateway uses this port');
    if (isOwn(host, port)) return new Socket().destroy(refuseOwn());
    const checked = (name, how, done) =>
      lookup(name, how, (error, found, family) => {
        const isRefused = [found].flat().some((each) => isOwn(each?.address ?? each, port));
        if (isRefused) done(refuseOwn());
        else done(error, found, family);
      });
    const socket = connect({ ...options, lookup: checked }, ...rest);
    // The proxy also connects to find the address for a request. Only a tunnel is piped.
    const pipe = () => socket.destroy(refusal('a tunnel to a host that gets a secret cannot be searched for it'));
    return isReceiver(host) ? Object.assign(socket, { pipe, write: () => true }) : socket;
  };
};

/** @returns the function that replaces `http.request` or `https.request` */
export const guardRequest = (request, { isOwn, say }) => {
  return (options, respond) => {
    if (!isOwn(options.host, options.port)) return request(options, respond);
    say(`deny network-outbound ${options.host}:${options.port}: the gateway uses this port`);
    throw new Error('the gateway uses this port');
  };
};
