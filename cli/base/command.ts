/** A command as data: what help, completion and the reader of the command line take from it, and the function that runs it. */

/** An option. `cli/command-line/command.ts` has the kinds. */
export interface Option<Value> {
  readonly description: string;
  /** The name of its value in help; null: a flag, which takes none. */
  readonly value: string | null;
  /** Its second name, `-n`; null: it has none. */
  readonly short: string | null;
  /**
   * @param texts what the command line gives, in order; for a flag `true` or `false`
   * @param name for messages @throws UsageError
   */
  readonly read: (texts: readonly string[], name: string) => Value;
}

/** A positional argument. */
export interface Argument<Value> {
  /** In help; `a|b` are choices. */
  readonly name: string;
  /** `rest`: any number of them; it is the last. */
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

/** The words behind a command's path, sorted out. */
export interface CommandLine {
  /** The texts of each option by its long name; none where it is not given. */
  readonly options: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
}

/** What help says of a command besides its summary: from the YAML beside its file. */
export interface CommandHelp {
  readonly details: string;
  /** `$0` is the program. */
  readonly examples: readonly (readonly [what: string, line: string])[];
}

export interface Command<Context> {
  /** What help says of it that only the program knows; below the details of its YAML. */
  readonly details: string;
  /** In the order of help. */
  readonly options: readonly NamedOption[];
  /** In the order of the command line. */
  readonly args: readonly Argument<unknown>[];
  /** @returns the exit code @throws UsageError for a value that cannot be parsed */
  readonly run: (context: Context, line: CommandLine) => Promise<number>;
}

/** A command in the list: enough to find it and print its line without loading its code. */
export interface ListedCommand<Context> {
  /** The words after `hookwright`, from the path of its file. */
  readonly path: string;
  /** Its line in help, without a full stop. */
  readonly summary: string;
  /** The title of its noun, if the noun has several commands. */
  readonly title: string | null;
  /** Its position in help; null: it is for programs, and not shown. */
  readonly rank: number | null;
  readonly load: () => Promise<Command<Context>>;
  readonly help: () => Promise<CommandHelp>;
}
