/**
 * Puts a command's arguments into the one form the parser reads without guessing:
 * `--name=value` for every option that takes a value, flags, then `--` and the positional arguments.
 * That is what lets values start with `-`: group ids are negative (`--deliver-chat-id -100200`, `session show x -100200`).
 */

import { suggest } from '../../compiler/text/suggest.ts';
import { UsageError } from '../base/errors.ts';

export interface OptionSpec {
  /** `-p`, `--port`. */
  readonly names: readonly string[];
  readonly takesValue: boolean;
}

/** The positional arguments in a usage line: `<name>`, `[name]`, and `...` for any number of them. */
export const positionalSlots = (usage: string): readonly string[] => usage.match(/<[^>]+>|\[[^\]]+\]|\.\.\./g) ?? [];

const NEGATIVE_NUMBER = /^-\d/;

/** @throws UsageError for an unknown option, and for an option whose value is missing. */
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
    const spec = byName.get(name) ?? byName.get(name.replace(/^--no-/, '--'));
    if (spec === undefined) throw unknownOption(name, [...byName.keys()]);
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

function missingValue(name: string, next: string | undefined): UsageError {
  if (next === undefined) return new UsageError(`option ${name} needs a value`);
  return new UsageError(`option ${name} needs a value`, `to pass the text ${next} as its value, write ${name}=${next}`);
}

function unknownOption(name: string, known: readonly string[]): UsageError {
  const [close] = suggest(name, known);
  return new UsageError(`unknown option ${name}`, ...(close === undefined ? [] : [`did you mean ${close}?`]));
}
