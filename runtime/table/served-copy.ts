/** Keeps a copy of the table in service, for a later start whose newest table cannot be served. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeDiskError, makeFolder } from '../platform/files.ts';
import type { Logger } from '../platform/log.ts';

/** The hash is within this many bytes. */
const HEAD_BYTES = 256;

/** Returns a function that copies the file if it has this hash, one copy after another. It never rejects: a failure is logged. */
export function createServedCopy(tableFile: string, copy: string, log: Logger): (hash: string) => Promise<void> {
  const replace = async (hash: string): Promise<void> => {
    const bytes = await readFile(tableFile);
    if (!bytes.subarray(0, HEAD_BYTES).includes(hash)) return;
    makeFolder(dirname(copy), 0o700);
    // It may contain literal secrets.
    await writeFile(`${copy}.tmp`, bytes, { mode: 0o600, flush: true });
    await rename(`${copy}.tmp`, copy);
  };
  let copying = Promise.resolve();
  return (hash) => {
    copying = copying
      .then(() => replace(hash))
      .catch((error: unknown) => {
        const reason = describeDiskError(error);
        log.warn({ reason }, 'could not keep a copy of the table: a start with a broken configuration would fail');
      });
    return copying;
  };
}
