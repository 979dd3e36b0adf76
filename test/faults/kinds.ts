/** The rows of the fault table: which call fails, how, and for how long. */
import type { DiskFault, DiskTool } from '../helpers/disk/disk-plan.ts';

export interface FaultKind extends Omit<DiskFault, 'nth'> {
  readonly name: string;
  /** Every so manieth call is made to fail in the long run: all of them where one call fails alone. */
  readonly every: number;
}

const once = { lastsMs: 0, every: 1 };
/** The disk is full, or does not sync, for a second: senders and the gateway come again meanwhile. */
const second = { lastsMs: 1000, every: 8 };

export const KINDS: readonly FaultKind[] = [
  { name: 'sync-EIO', call: 'sync', error: 'EIO', ...once },
  { name: 'write-EIO', call: 'write', error: 'EIO', ...once },
  { name: 'write-ENOSPC', call: 'write', error: 'ENOSPC', ...once },
  { name: 'second-of-sync-EIO', call: 'sync', error: 'EIO', ...second, every: 2 },
  { name: 'second-of-ENOSPC', call: 'write', error: 'ENOSPC', ...second },
];

/** Those that a tool can have. */
export const kindsWith = (tool: DiskTool): readonly FaultKind[] =>
  tool.name === 'preload' ? KINDS : KINDS.filter(({ lastsMs }) => lastsMs === 0);
