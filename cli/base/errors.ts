/** The two ways a command fails by the user's hand: refused (exit 1) and wrong usage (exit 2). */

/** A refusal: one line that says what is wrong, and lines that say what to type or do next. Exit code 1. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly exitCode: number = 1;
  readonly hints: readonly string[];

  constructor(message: string, ...hints: string[]) {
    super(message);
    this.hints = hints;
  }
}

/** Wrong usage: unknown option, missing or malformed argument. Exit code 2. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';
  override readonly exitCode = 2;
}

/** The error's text without a stack; `String()` of what is not an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
