/** The log of a gateway in the background: one file in the home, with the one before it. */
import { chmodSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A log above this many bytes is put aside when a gateway starts. */
const ROTATE_BYTES = 32 * 1024 * 1024;

export const logFile = (home: string): string => join(home, 'logs', 'gateway.log');

/** Opens the log for appending, mode 0600; a large one becomes `gateway.log.1` first. Returns the file descriptor. */
export function openLogFile(home: string): number {
  const path = logFile(home);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > ROTATE_BYTES) renameSync(path, `${path}.1`);
  const file = openSync(path, 'a', 0o600);
  chmodSync(path, 0o600);
  return file;
}
