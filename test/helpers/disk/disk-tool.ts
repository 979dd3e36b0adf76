/** Which tool makes a disk slow or fail here. */
import type { DiskTool } from './disk-plan.ts';
import { createPreload } from './preload.ts';
import { hasStrace, straceTool } from './strace.ts';

/**
 * The library first: it delays within the thread that syncs and touches nothing else, and counts over all threads; strace
 * stops the process at each call, and a delay takes about 1.5 ms longer than asked for. Null where neither can be had.
 */
export function findDiskTool(): DiskTool | null {
  return createPreload() ?? (hasStrace() ? straceTool : null);
}

/** For the `skip` of node:test: false, or a loud line; an error where everything has to be there. */
export function skipWithout(found: boolean, what: string): string | false {
  if (found) return false;
  const message = `NOT TESTED: ${what} is missing here (apt-get install strace gcc libc6-dev)`;
  if (process.env.CI === 'true') throw new Error(message);
  console.error(message);
  return message;
}
