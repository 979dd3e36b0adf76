/** The log of a background gateway: a file in the home, and the previous one. */
import { accessSync, chmodSync, constants, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeDiskError } from '../../runtime/platform/describe-disk-error.ts';
import { CliError } from '../base/errors.ts';

/** A log larger than this is rotated when a gateway starts, in bytes. */
const ROTATE_BYTES = 32 * 1024 * 1024;

export const logFile = (home: string): string => join(home, 'logs', 'gateway.log');

/**
 * Opens the log for appending, mode 0600; a large one becomes `gateway.log.1` first. Returns the file descriptor.
 * @throws CliError when the disk does not take it
 */
export function openLogFile(home: string): number {
  const path = logFile(home);
  try {
    // A folder that cannot be made on a read-only disk is reported as one that is missing.
    accessSync(home, constants.W_OK);
    return openForAppending(path);
  } catch (error) {
    const hint = 'run it in the foreground, with its log on standard error: hookwright gateway run';
    throw new CliError(`cannot write ${path}: ${describeDiskError(error)}`, hint);
  }
}

function openForAppending(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > ROTATE_BYTES) renameSync(path, `${path}.1`);
  const file = openSync(path, 'a', 0o600);
  chmodSync(path, 0o600);
  return file;
}
