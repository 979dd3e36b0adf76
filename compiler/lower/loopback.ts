/** Which bind addresses nobody but this machine can reach (§2.4): only there may validation be switched off. */

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/** An empty host binds every address. */
export const isLoopback = (host: string): boolean => LOOPBACK.has(host.toLowerCase());
