/** Selects the tool that makes a disk slow or fail on this machine. */
import { skipWithout } from '../skip-without.ts';
import type { DiskTool } from './disk-plan.ts';
import { createPreload } from './preload.ts';
import { hasStrace, straceTool } from './strace.ts';

/**
 * Prefers the library: it delays within the thread that syncs, affects nothing else, and counts over all threads.
 * strace stops the process at each call, and a delay takes about 1.5 ms longer than requested. Null if neither is
 * available.
 */
export function findDiskTool(): DiskTool | null {
  return createPreload() ?? (hasStrace() ? straceTool : null);
}

/** For the `skip` of node:test. */
export const skipWithoutDisk = (found: boolean, what: string): string | false =>
  skipWithout(found, what, 'strace gcc libc6-dev');
