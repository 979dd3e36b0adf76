/** Which bind addresses only this machine can reach (§2.4). An empty host is every address there is. */
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host.toLowerCase());
}
