/**
 * Connects to public addresses only. A name is resolved once and all of its addresses are checked. The connection uses one of
 * these, so that a later DNS change has no effect.
 */
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { isPublicAddress, NOT_PUBLIC } from '../../base/net.ts';

class NotPublic extends Error {
  readonly code = NOT_PUBLIC;
}

/** @param resolve like `lookup` of node:dns */
export function publicConnector(
  options: buildConnector.BuildOptions,
  resolve: typeof lookup = lookup,
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: checked(resolve) });
  return (target, callback) => {
    // An IP address needs no lookup.
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) === 0 || isPublicAddress(host)) connect(target, callback);
    else callback(new NotPublic(), null);
  };
}

/** Fails if any address of a name is not public. */
const checked =
  (resolve: typeof lookup): LookupFunction =>
  (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) callback(error ?? new NotPublic(), '', 0);
      else if (found.some(({ address }) => !isPublicAddress(address))) callback(new NotPublic(), '', 0);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
