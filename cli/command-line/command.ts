/**
 * Creates commands, options and arguments. Conventions for a new command:
 *
 * - Each noun has a file, `cli/<noun>.ts`, in the core or in a module; each verb is `export const <noun><Verb>Command = command({ … })`.
 *   A verb without a noun has its own file. `main/help.yaml` has the typed words and their order in help. A file is loaded only when
 *   one of its commands runs. A noun is split into several files if one of its verbs would load code that the others do not need.
 * - The help is in `<noun>.yaml` beside it, by command: a summary without a full stop, details, and examples (title, `$0 ...`).
 * - The key of an option is its name: `dryRun` is `--dry-run`. Values may start with `-`. Options of several nouns are in options.ts,
 *   parsers of values in values.ts. `run` receives the parsed values under the same keys.
 * - The outside world comes only from the context (cli/base/context.ts): streams, env, cwd, home, clock, fetch.
 *   `openHome(context)` creates the home; commands that only read do not create it.
 * - Results go to stdout (`printLine`, `printJson`, `printTable`), everything else to stderr (`printNote`, `createProgress`).
 *   Commands that list have `--json`: an array of objects, printed with `printJson`. Text from users or senders passes `visible()`.
 *   Colours come only from `createPaint(context.colour.stdout)`; prompts need TTYs as stdin and stderr.
 * - `run` returns the exit code if it is not 0: 1 failed, 2 wrong usage. To fail, throw: `CliError(message, ...what to do next)`
 *   exits 1, `UsageError(...)` exits 2; both print without a stack. Any other error is reported as a bug, with its stack.
 * - Tests drive a command with `runInProcess` (fast) or `runProcess` (real pipes and signals) of test/helpers/cli.ts.
 */
import type { Argument, Command, CommandLine, Option } from '../base/command.ts';
import type { CliContext } from '../base/context.ts';
import { UsageError } from '../base/errors.ts';
import { parseChoice } from './values.ts';

type Options = Readonly<Record<string, Option<unknown>>>;
type Arguments = Readonly<Record<string, Argument<unknown>>>;

/** The parsed values of these options and arguments, under their keys. */
export type ValuesOf<Declared extends Options | Arguments> = {
  readonly [Key in keyof Declared]: ReturnType<Declared[Key]['read']>;
};

interface Declaration<Declared extends Options, Args extends Arguments> {
  /** See `Command`. */
  readonly details?: string;
  readonly options?: Declared;
  readonly args?: Args;
  readonly run: (context: CliContext, given: ValuesOf<Declared> & ValuesOf<Args>) => Promise<number> | Promise<void>;
}

/** No options, or no arguments. */
type None = Record<never, never>;

export function command<Declared extends Options = None, Args extends Arguments = None>(
  declared: Declaration<Declared, Args>,
): Command<CliContext> {
  const { details = '', run } = declared;
  const args = Object.entries<Argument<unknown>>(declared.args ?? {});
  const own: Options = declared.options ?? {};
  const isNamed = own.config?.value === CONFIGS;
  const options = Object.entries({ ...own, ...(isNamed && { root: rootOption }) }).map(([key, option]) => {
    const name = `--${kebabCase(key)}`;
    return { ...option, key, name, names: option.short === null ? [name] : [option.short, name] };
  });
  const read = ({ options: texts, positionals }: CommandLine): ValuesOf<Declared> & ValuesOf<Args> => {
    const given = [
      ...options.map(({ key, name, read }) => [key, read(texts.get(name) ?? [], name)]),
      ...args.map(([key, { kind, read }], at) => [
        key,
        read(positionals.slice(at, kind === 'rest' ? undefined : at + 1)),
      ]),
    ];
    return Object.fromEntries(given) as ValuesOf<Declared> & ValuesOf<Args>;
  };
  return {
    details,
    options,
    args: args.map(([, arg]) => arg),
    run: async (context, line) => (await run(context, read(line))) ?? 0,
  };
}

const kebabCase = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const option = <Value>(value: string | null, description: string, read: Option<Value>['read']): Option<Value> => ({
  description,
  value,
  short: null,
  read,
});

/** The last value counts; undefined if it is not set. @param value its name in help */
export const parsed = <Value>(value: string, description: string, parse: (text: string, option: string) => Value) =>
  option(value, description, ([...texts], name) => (texts.length === 0 ? undefined : parse(texts.pop() ?? '', name)));

export const text = (value: string, description: string): Option<string | undefined> =>
  parsed(value, description, (given) => given);

/** One of the choices, which help lists. */
export const choice = <Choice extends string>(choices: readonly Choice[], description: string) =>
  parsed(choices.join('|'), description, (given, name) => parseChoice(given, name, choices));

/** May be repeated; undefined if it is not set. */
export const list = (value: string, description: string): Option<readonly string[] | undefined> =>
  option(value, description, (texts) => (texts.length === 0 ? undefined : texts));

/** Off unless it is set. */
export const flag = (description: string): Option<boolean> =>
  option(null, description, (texts) => texts.at(-1) === 'true');

/** On, off (`--no-…`), or undefined if it is not set. */
export const toggle = (description: string): Option<boolean | undefined> =>
  option(null, description, (texts) => (texts.length === 0 ? undefined : texts.at(-1) === 'true'));

/** @param initial the text that is parsed if the option is not set */
export const withDefault = <Value>(initial: string, given: Option<Value>): Option<Exclude<Value, undefined>> => ({
  ...given,
  read: (texts, name) => given.read(texts.length === 0 ? [initial] : texts, name) as Exclude<Value, undefined>,
});

/** @throws UsageError if it is not set */
export const needed = <Value>(given: Option<Value>): Option<Exclude<Value, undefined>> => ({
  ...given,
  read: (texts, name) => {
    if (texts.length === 0) throw new UsageError(`option ${name} is missing`);
    return given.read(texts, name) as Exclude<Value, undefined>;
  },
});

/** @param letter with its dash: `-n` */
export const withShort = <Value>(short: string, given: Option<Value>): Option<Value> => ({ ...given, short });

/** The value of `--config`; each command with it has `--root`, see `CliContext.allowed`. */
export const CONFIGS = 'path|glob';

const rootOption = list(
  'dir',
  'Allow the configuration to name files in this folder, besides the folder that it is in; repeatable',
);

// The parser has already rejected a command line with too few arguments.
export const argument = (name: string): Argument<string> => ({ name, kind: 'required', read: ([given = '']) => given });

export const optionalArgument = (name: string): Argument<string | undefined> => ({
  name,
  kind: 'optional',
  read: ([given]) => (given === '' ? undefined : given),
});

/** All remaining arguments. */
export const restArguments = (name: string): Argument<readonly string[]> => ({
  name,
  kind: 'rest',
  read: (given) => given,
});
