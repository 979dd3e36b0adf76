/** Reads thrown values: errors of the operating system, error codes and messages. */

/** Whether the operating system reported the error (permissions, missing file, full disk). No stack is shown for these. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** The `code` of an error of the system, of Node.js or of undici, such as `ENOENT`; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The message of a thrown value; a value that is not an Error is converted to a string. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
