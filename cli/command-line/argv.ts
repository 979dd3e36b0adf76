/**
 * Puts a command's arguments into the one form the parser reads without guessing:
 * `--name=value` for every option that takes a value, flags, then `--` and the positional arguments.
 * That is what lets values start with `-`: group ids are negative (`--deliver-chat-id -100200`, `session show x -100200`).
 */
import { suggest } from '../../compiler/text/suggest.ts';
import { UsageError } from '../base/errors.ts';
import type { CommandShape, OptionShape } from './command-shape.ts';

export type OptionSpec = Pick<OptionShape, 'names' | 'takesValue'>;

const NEGATIVE_NUMBER = /^-\d/;

/** @throws UsageError for an unknown option, one whose value is missing, and a flag with a value. */
export function normaliseArgv(args: readonly string[], specs: readonly OptionSpec[]): string[] {
  const byName = new Map(specs.flatMap((spec) => spec.names.map((name) => [name, spec] as const)));
  const options: string[] = [];
  const positionals: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--') {
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
    if (!spec.takesValue && equals !== -1) throw new UsageError(`option ${name} takes no value`);
    if (!spec.takesValue || equals !== -1) {
      options.push(arg);
      continue;
    }
    at += 1;
    const value = args[at];
    if (value === undefined || byName.has(value.split('=', 1)[0] ?? '')) throw missingValue(name, value);
    options.push(`${name}=${value}`);
  }
  return positionals.length === 0 ? options : [...options, '--', ...positionals];
}

/** `--no-json` is the flag `--json`, off. */
function negatedFlag(name: string, byName: ReadonlyMap<string, OptionSpec>): OptionSpec | undefined {
  const spec = name.startsWith('--no-') ? byName.get(name.replace('--no-', '--')) : undefined;
  return spec?.takesValue === false ? spec : undefined;
}

/** @throws UsageError when there are more or fewer positional arguments than the command takes; `argv` is in normal form. */
export function checkPositionals(argv: readonly string[], shape: CommandShape, usage: string): void {
  const { positionals, required, rest } = shape;
  const marker = argv.indexOf('--');
  const given = marker === -1 ? [] : argv.slice(marker + 1);
  if (given.length < required) throw new UsageError(`<${positionals[given.length]}> is missing`, `usage: ${usage}`);
  const extra = rest === null ? given[positionals.length] : undefined;
  if (extra !== undefined) throw new UsageError(`"${extra}" is one argument too many`, `usage: ${usage}`);
}

function missingValue(name: string, next: string | undefined): UsageError {
  if (next === undefined) return new UsageError(`option ${name} needs a value`);
  return new UsageError(`option ${name} needs a value`, `to pass the text ${next} as its value, write ${name}=${next}`);
}

function unknownOption(name: string, known: readonly string[]): UsageError {
  const [close] = suggest(name, known);
  return new UsageError(`unknown option ${name}`, ...(close === undefined ? [] : [`did you mean ${close}?`]));
}
