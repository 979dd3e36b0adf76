/** The rows of the fault table: which call fails, how, and for how long. */
import type { DiskFault, DiskTool } from '../helpers/disk/disk-plan.ts';

export interface FaultKind extends Omit<DiskFault, 'nth'> {
  readonly name: string;
  /** The long run makes every n-th call fail: all calls if a single call fails. */
  readonly every: number;
}

const once = { lastsMs: 0, every: 1 };
/** The disk is full, or does not sync, for a second, in which senders and the gateway retry. */
const second = { lastsMs: 1000, every: 8 };

export const KINDS: readonly FaultKind[] = [
  { name: 'sync-EIO', call: 'sync', error: 'EIO', ...once },
  { name: 'write-EIO', call: 'write', error: 'EIO', ...once },
  { name: 'write-ENOSPC', call: 'write', error: 'ENOSPC', ...once },
  { name: 'second-of-sync-EIO', call: 'sync', error: 'EIO', ...second, every: 2 },
  { name: 'second-of-ENOSPC', call: 'write', error: 'ENOSPC', ...second },
];

/** The kinds that a tool supports. */
export const kindsWith = (tool: DiskTool): readonly FaultKind[] =>
  tool.name === 'preload' ? KINDS : KINDS.filter(({ lastsMs }) => lastsMs === 0);
