/** A port for a program that cannot report which one it uses. */
import { createServer } from 'node:net';

/** @returns a port of 127.0.0.1 that was free */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
