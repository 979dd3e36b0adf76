/** Where a running gateway can be reached on its own machine. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Longest path a Unix socket may have everywhere (macOS: 104 bytes with the final zero). */
const LONGEST = 103;

export interface ControlPaths {
  /** Folder of everything that lives only while a gateway runs; mode 0700. */
  readonly folder: string;
  readonly socket: string;
  /** Held for as long as a gateway serves this home. */
  readonly lock: string;
  /** Who holds the lock, for messages; never trusted for anything else. */
  readonly info: string;
}

/** The paths of one home. A home too deep for a socket gets one below `temporary`, named by the home's hash. */
export function controlPaths(home: string, temporary: string): ControlPaths {
  const folder = join(home, 'run');
  const near = join(folder, 'control.sock');
  const far = join(temporary, `hookwright-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`, 'c.sock');
  return {
    folder,
    socket: Buffer.byteLength(near) <= LONGEST ? near : far,
    lock: join(folder, 'gateway.lock'),
    info: join(folder, 'gateway.json'),
  };
}
