/** The rows of the fault table: which call fails, how, and for how long. */
import type { DiskFault } from '../helpers/disk/disk-plan.ts';

export interface FaultKind extends Omit<DiskFault, 'nth'> {
  readonly name: string;
  /** Every so manieth call is made to fail in the long run: all of them where one call fails alone. */
  readonly every: number;
}

export const KINDS: readonly FaultKind[] = [
  { name: 'sync-EIO', call: 'sync', error: 'EIO', times: 1, every: 1 },
  { name: 'write-EIO', call: 'write', error: 'EIO', times: 1, every: 1 },
  { name: 'write-ENOSPC', call: 'write', error: 'ENOSPC', times: 1, every: 1 },
  { name: 'syncs-EIO', call: 'sync', error: 'EIO', times: 6, every: 3 },
  { name: 'writes-ENOSPC', call: 'write', error: 'ENOSPC', times: 25, every: 8 },
];
