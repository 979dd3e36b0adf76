/** Errors for the user of a command: a refusal (exit 1), wrong usage (exit 2), or trouble in a command for which 1 is a result (exit 2). */
import { isSystemError } from '../../base/system-error.ts';

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

/** A refusal of the runtime, whose first line says what is wrong and whose others say what to do. */
export function refusalOf({ message }: Error): CliError {
  const [first = '', ...others] = message.split('\n');
  return new CliError(first, ...others);
}

/** Wrong usage: unknown option, missing or malformed argument. Exit code 2. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';
  override readonly exitCode = 2;
}

/** A refusal by a command with the exit codes of diff(1): 1 means `different`, so failures are 2. */
export class TroubleError extends CliError {
  override readonly name = 'TroubleError';
  override readonly exitCode = 2;
}

/** Runs a command with the exit codes of diff(1). @throws TroubleError in place of each refusal and each error of the system */
export async function withTrouble<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof CliError) throw new TroubleError(error.message, ...error.hints);
    if (isSystemError(error)) throw new TroubleError(error.message);
    throw error;
  }
}
