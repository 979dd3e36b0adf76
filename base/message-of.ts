/** The message of a thrown value; a value that is not an Error is converted to a string. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
