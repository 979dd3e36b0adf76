/** Which bind addresses only this machine can reach (§2.4): validation may be switched off only there. */

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/** An empty host binds every address. */
export const isLoopback = (host: string): boolean => LOOPBACK.has(host.toLowerCase());
