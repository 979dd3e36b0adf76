/** What an address to listen on means: who can reach it, and under which URL. */

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/** Only this machine can reach it (§2.4). False for an empty host, which binds every address. */
export const isLoopback = (host: string): boolean => LOOPBACK.has(host.toLowerCase());

/** It stands for every address of this machine, and is no name for any. */
export const isWildcard = (host: string): boolean => host === '' || host === '0.0.0.0' || host === '::';

export const listenUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
