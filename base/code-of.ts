/** The `code` of an error of the system, of Node.js or of undici, such as `ENOENT`; undefined when it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
