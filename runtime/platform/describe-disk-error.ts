/** What is wrong with a disk, in words for people, from the code of an error of the system or of SQLite. */

const CAUSES: readonly (readonly [codes: RegExp, cause: string])[] = [
  [/^(?:ENOSPC|EDQUOT|SQLITE_(?:FULL|IOERR_SHMSIZE))/, 'the disk is full'],
  [/^(?:EROFS|SQLITE_READONLY)/, 'the file system is read-only'],
  [/^(?:EACCES|EPERM)/, 'this user may not write there'],
];

/** The message of an error that is none of these. */
export function describeDiskError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return CAUSES.find(([codes]) => codes.test(code))?.[1] ?? error.message;
}
