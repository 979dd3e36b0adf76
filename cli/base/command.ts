/** A command as data, for help, completion and the command-line parser, and the function that runs it. */

/** An option. `cli/command-line/command.ts` creates the kinds. */
export interface Option<Value> {
  readonly description: string;
  /** The name of its value in help; null for a flag, which has no value. */
  readonly value: string | null;
  /** Its short name, such as `-n`, or null. */
  readonly short: string | null;
  /**
   * @param texts the values on the command line, in order; for a flag `true` or `false`
   * @param name for messages @throws UsageError
   */
  readonly read: (texts: readonly string[], name: string) => Value;
}

/** A positional argument. */
export interface Argument<Value> {
  /** In help; `a|b` are choices. */
  readonly name: string;
  /** `rest` is the last one and has any number of values. */
  readonly kind: 'required' | 'optional' | 'rest';
  readonly read: (texts: readonly string[]) => Value;
}

/** An option under the names by which it is typed. */
export interface NamedOption<Value = unknown> extends Option<Value> {
  /** `--port`. */
  readonly name: string;
  /** `-p`, `--port`. */
  readonly names: readonly string[];
}

/** The parsed words after a command's path. */
export interface CommandLine {
  /** The values of each option that is set, by its long name. */
  readonly options: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
}

/** The help of a command besides its summary, from the YAML file beside its code. */
export interface CommandHelp {
  readonly details: string;
  /** `$0` stands for the program. */
  readonly examples: readonly (readonly [what: string, line: string])[];
}

export interface Command<Context> {
  /** Computed help text, shown below the details of the YAML file. */
  readonly details: string;
  /** In the order of help. */
  readonly options: readonly NamedOption[];
  /** In the order of the command line. */
  readonly args: readonly Argument<unknown>[];
  /** @returns the exit code @throws UsageError for a value that cannot be parsed */
  readonly run: (context: Context, line: CommandLine) => Promise<number>;
}

/** A command in the list, which can be found and listed without loading its code. */
export interface ListedCommand<Context> {
  /** The words after `hookwright`, from the path of its file. */
  readonly path: string;
  /** Its line in help, without a full stop. */
  readonly summary: string;
  /** The title of its noun, if the noun has several commands. */
  readonly title: string | null;
  /** Its position in help; null for a command for programs, which help does not list. */
  readonly rank: number | null;
  readonly load: () => Promise<Command<Context>>;
  readonly help: () => Promise<CommandHelp>;
}
