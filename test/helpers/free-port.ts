/** A port for a program that cannot report which one it uses. */
import { createServer } from 'node:net';

/**
 * Below the ports that systems assign for port 0 and to clients: no other process gets it before its program listens,
 * and a client does not connect to itself.
 */
const [LOWEST, HIGHEST] = [10_000, 32_000];

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });

/** @returns a port that was free on all addresses */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
}
