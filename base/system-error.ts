/** Tells a fault of the machine from a fault of the program. */

/** A fault the operating system reports (permission, missing file, full disk): the user's to solve, so no stack. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';
}
