/** Paths through which a running gateway is reached on its own machine. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Longest path of a Unix socket on all systems, in bytes (macOS: 104 with the final zero). */
const LONGEST = 103;

export interface ControlPaths {
  /** Folder of the files that exist only while a gateway runs; mode 0700. */
  readonly folder: string;
  readonly socket: string;
  /** Locked while a gateway serves this home. */
  readonly lock: string;
  /** Describes the process that holds the lock; used only in messages. */
  readonly info: string;
}

/** The paths of a home. If the home's path is too long for a socket, the socket is below `temporary`, named by a hash. */
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
