/**
 * Sorts the words behind a command's path into options and positional arguments. What follows an option that takes a value
 * is its value, also where it starts with `-`: group ids are negative (`--deliver-chat-id -100200`, `session show x -100200`).
 */
import { suggest } from '../../compiler/text/suggest.ts';
import type { Argument, Command, CommandLine, NamedOption } from '../base/command.ts';
import { UsageError } from '../base/errors.ts';

type OptionSpec = Pick<NamedOption, 'names' | 'value'>;

const NEGATIVE_NUMBER = /^-\d/;

/**
 * @param before how many positional arguments stand before `--`: those that are left out there are empty
 * @throws UsageError for an unknown option, one whose value is missing, and a flag with a value.
 */
export function readWords(args: readonly string[], specs: readonly OptionSpec[], before = 0): CommandLine {
  const byName = new Map(specs.flatMap((spec) => spec.names.map((name) => [name, spec] as const)));
  const options = new Map<string, string[]>();
  const add = ({ names }: OptionSpec, text: string): void => {
    const name = names.at(-1) ?? '';
    options.set(name, [...(options.get(name) ?? []), text]);
  };
  const positionals: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--') {
      while (positionals.length < before) positionals.push('');
      positionals.push(...args.slice(at + 1));
      break;
    }
    if (!arg.startsWith('-') || arg === '-' || NEGATIVE_NUMBER.test(arg)) {
      positionals.push(arg);
      continue;
    }
    const equals = arg.indexOf('=');
    const name = equals === -1 ? arg : arg.slice(0, equals);
    const spec = byName.get(name) ?? negatedFlag(name, byName);
    if (spec === undefined) throw unknownOption(name, [...byName.keys()]);
    if (spec.value === null) {
      if (equals !== -1) throw new UsageError(`option ${name} takes no value`);
      add(spec, String(byName.has(name)));
    } else if (equals !== -1) add(spec, arg.slice(equals + 1));
    else {
      at += 1;
      const value = args[at];
      if (value === undefined || byName.has(value.split('=', 1)[0] ?? '')) throw missingValue(name, value);
      add(spec, value);
    }
  }
  return { options, positionals };
}

/** `--no-json` is the flag `--json`, off. */
function negatedFlag(name: string, byName: ReadonlyMap<string, OptionSpec>): OptionSpec | undefined {
  const spec = name.startsWith('--no-') ? byName.get(name.replace('--no-', '--')) : undefined;
  return spec?.value === null ? spec : undefined;
}

/** @param path of the command @throws UsageError also when there are more or fewer arguments than the command takes */
export function readCommandLine(
  args: readonly string[],
  path: string,
  command: Pick<Command<never>, 'options' | 'args'>,
): CommandLine {
  // `sandbox try -- ls`: what follows `--` is the command, also where no agent is named.
  const optional = command.args.filter(({ kind }) => kind === 'optional');
  const line = readWords(args, command.options, command.args.at(-1)?.kind === 'rest' ? optional.length : 0);
  const given = line.positionals;
  const missing = command.args.find(({ kind }, at) => kind === 'required' && at >= given.length);
  const usage = `usage: ${usageOf(path, command.args)}`;
  if (missing !== undefined) throw new UsageError(`<${missing.name}> is missing`, usage);
  const extra = command.args.at(-1)?.kind === 'rest' ? undefined : given[command.args.length];
  if (extra !== undefined) throw new UsageError(`"${extra}" is one argument too many`, usage);
  return line;
}

/** `hookwright source learn <source> [file…]`. */
export const usageOf = (path: string, args: readonly Argument<unknown>[]): string =>
  ['hookwright', path, ...args.map(argumentLabel)].join(' ');

const argumentLabel = ({ name, kind }: Argument<unknown>): string =>
  ({ required: `<${name}>`, optional: `[${name}]`, rest: name === '' ? '…' : `[${name}…]` })[kind];

function missingValue(name: string, next: string | undefined): UsageError {
  if (next === undefined) return new UsageError(`option ${name} needs a value`);
  return new UsageError(`option ${name} needs a value`, `to pass the text ${next} as its value, write ${name}=${next}`);
}

function unknownOption(name: string, known: readonly string[]): UsageError {
  const [close] = suggest(name, known);
  return new UsageError(`unknown option ${name}`, ...(close === undefined ? [] : [`did you mean ${close}?`]));
}
