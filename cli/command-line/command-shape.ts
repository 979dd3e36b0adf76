/** What a command takes, as its class declares it to the parser: for reading the command line, for help, for completion. */
import type { CommandClass, Option } from 'clipanion';
import { Command } from 'clipanion';
import type { CliContext } from '../base/context.ts';

export interface OptionShape {
  /** `-p`, `--port`. */
  readonly names: readonly string[];
  readonly takesValue: boolean;
  /** The name of its value: what its description opens with, `dir` of `<dir> Where to write`. */
  readonly value: string;
  /** Without the name of its value. */
  readonly description: string;
}

export interface CommandShape {
  readonly options: readonly OptionShape[];
  /** Names of the positional arguments, in their order; those behind the first `required` may be left out. */
  readonly positionals: readonly string[];
  readonly required: number;
  /** The name of any number of arguments behind them; null: none may follow. */
  readonly rest: string | null;
}

type Builder = Parameters<Option.CommandOption<unknown>['definition']>[0];
type Declared = Parameters<Builder['addOption']>[0];
type Positional = NonNullable<Parameters<Builder['addPositional']>[0]>;

/** Declares the command to a builder that records it, because the parser's own builder only returns text. */
export function shapeOf(command: CommandClass<CliContext>): CommandShape {
  const options: OptionShape[] = [];
  const positionals: Positional[] = [];
  let rest: string | null = null;
  const builder = {
    addOption: (declared: Declared) => options.push(optionShape(declared)),
    addPositional: (positional: Positional) => positionals.push(positional),
    addRest: ({ name = '' }: { readonly name?: string }) => {
      rest = name;
    },
  };
  for (const [key, member] of Object.entries(new command())) {
    if (isOption(member)) member.definition(builder as unknown as Builder, key);
  }
  const names = positionals.map(({ name = '' }) => name);
  return { options, positionals: names, required: positionals.filter((one) => one.required !== false).length, rest };
}

const isOption = (member: unknown): member is Option.CommandOption<unknown> =>
  typeof member === 'object' && member !== null && Command.isOption in member;

function optionShape({ names, arity = 0, description = '' }: Declared): OptionShape {
  const [, value = 'value', text = ''] = /^(?:<([^>]+)>)?\s*(.*)$/s.exec(description.trim()) ?? [];
  return { names, takesValue: arity > 0, value, description: text };
}
