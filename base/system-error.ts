/** Distinguishes errors of the operating system from bugs of this program. */

/** Whether the operating system reported the error (permissions, missing file, full disk). No stack is shown for these. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';
}
