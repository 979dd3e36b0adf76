/** Recognises bind addresses that only this machine can reach (§2.4). Signature checks may be disabled only on those. */

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/** False for an empty host, which binds every address. */
export const isLoopback = (host: string): boolean => LOOPBACK.has(host.toLowerCase());
