import { codeOf } from '../../base/code-of.ts';

/** Describes a disk error for users, from the code of the system's or SQLite's error. */

const CAUSES: readonly (readonly [codes: RegExp, cause: string])[] = [
  [/^(?:ENOSPC|EDQUOT|SQLITE_(?:FULL|IOERR_SHMSIZE))/, 'the disk is full'],
  [/^(?:EROFS|SQLITE_READONLY)/, 'the file system is read-only'],
  [/^(?:EACCES|EPERM)/, 'this user may not write there'],
];

/** The cause in words; for any other error its message. */
export function describeDiskError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error) ?? '';
  return CAUSES.find(([codes]) => codes.test(code))?.[1] ?? error.message;
}
