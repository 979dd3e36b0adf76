/** Parses a command's options and arguments, and formats its help, with the library clipanion. */
import { Command as Base, Cli, Option } from 'clipanion';
import { suggest } from '../../compiler/text/suggest.ts';
import type { Argument, Command, CommandHelp, CommandLine, ListedCommand, NamedOption } from '../base/command.ts';
import { UsageError } from '../base/errors.ts';

const PROGRAM = 'hookwright';

type Declared = Pick<Command<never>, 'options' | 'args'>;

/** The library reads options and arguments from the fields of an instance. */
function classOf({ options, args, details, examples }: Declared & CommandHelp) {
  return class extends Base {
    // The library fails on an empty text.
    static override readonly usage = {
      ...(details !== '' && { details }),
      examples: examples.map(([...each]) => each),
    };

    constructor() {
      super();
      for (const [at, { kind }] of args.entries()) {
        const field = kind === 'rest' ? Option.Rest() : Option.String({ required: kind === 'required' });
        Object.assign(this, { [argumentKey(at)]: field });
      }
      for (const { name, names, value } of options) {
        const field = value === null ? Option.Boolean(names.join(',')) : Option.Array(names.join(','));
        Object.assign(this, { [name]: field });
      }
    }

    override execute = () => Promise.resolve();
  };
}

const argumentKey = (at: number): string => `argument ${at}`;

/** @param words the words after the path @throws UsageError */
export function readCommandLine(words: readonly string[], path: string, command: Declared): CommandLine {
  const { options, args } = command;
  // In `sandbox try -- ls`, the words after `--` are the command even without the name of an agent.
  const before = args.at(-1)?.kind === 'rest' ? args.filter(({ kind }) => kind === 'optional').length : 0;
  try {
    const given = Object.entries(
      Cli.from(classOf({ ...command, details: '', examples: [] })).process(joinValues(words, options, before)),
    );
    const texts = new Map(given.map(([key, value]) => [key, [value ?? []].flat().map(String)] as const));
    return { options: texts, positionals: args.flatMap((_, at) => texts.get(argumentKey(at)) ?? []) };
  } catch (error) {
    throw wrongUsage(error, path, command);
  }
}

const NEGATIVE_NUMBER = /^-\d/;

/** Group ids are negative: `--deliver-chat-id -100200` becomes one word, and the arguments of `session show x -100200` follow `--`. */
function joinValues(words: readonly string[], options: readonly NamedOption[], before: number): string[] {
  const known = new Map(options.flatMap(({ names, value }) => names.map((name) => [name, value] as const)));
  const joined: string[] = [];
  const positionals: string[] = [];
  const withoutValue: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [word = '', next] = words.slice(at);
    if (word === '--') {
      while (positionals.length < before) positionals.push('');
      positionals.push(...words.slice(at + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-' || NEGATIVE_NUMBER.test(word)) positionals.push(word);
    else if ((known.get(word) ?? null) === null) joined.push(word);
    else if (next === undefined || known.has(next.split('=', 1)[0] ?? '')) withoutValue.push(word);
    else {
      joined.push(`${word}=${next}`);
      at += 1;
    }
  }
  // Last, where no positional argument can be taken for their value: the library refuses them.
  if (withoutValue.length > 0) return [...joined, ...positionals, ...withoutValue];
  return [...joined, ...(positionals.some((word) => word.startsWith('-')) ? ['--'] : []), ...positionals];
}

/** The library's reason, and the closest name to an unknown option. */
function wrongUsage(error: unknown, path: string, command: Declared): unknown {
  if (!(error instanceof Error && 'candidates' in error)) return error;
  const candidates = error.candidates as readonly { readonly reason: string | null }[];
  // The library also tries `--` as the name of an option.
  const reasons = candidates.map(({ reason }) => reason ?? '').filter((reason) => !/^$|"--"/.test(reason));
  const [reason = 'Wrong arguments.'] = reasons;
  const [, option = ''] = /\("(-[^"=]*)/.exec(reason) ?? [];
  const known = command.options.flatMap(({ names }) => names);
  const [close] = suggest(option, known);
  const hint = close === undefined ? `usage: ${usageOf(path, command)}` : `did you mean ${close}?`;
  return new UsageError(reason.charAt(0).toLowerCase() + reason.slice(1, -1), hint);
}

/** `hookwright source learn <source> [file…]`. The library's own usage line lacks repeated arguments and values of options. */
const usageOf = (path: string, { args }: Declared): string => [PROGRAM, path, ...args.map(argumentLabel)].join(' ');

/** Loads a command together with its help. */
export async function loadHelp({ load, help }: ListedCommand<never>): Promise<Declared & CommandHelp> {
  const [command, { details, examples }] = await Promise.all([load(), help()]);
  return { ...command, examples, details: [details, command.details].filter((text) => text !== '').join('\n\n') };
}

/** The parts of a help text. @param coloured whether text in backticks has a colour */
export async function describe(entry: ListedCommand<never>, coloured = false) {
  const command = await loadHelp(entry);
  const commandClass = classOf(command);
  const cli = Cli.from(commandClass, { binaryName: PROGRAM });
  const { details = '', examples = [] } = cli.definition(commandClass, { colored: coloured }) ?? {};
  return {
    usage: usageOf(entry.path, command),
    /** `-n, --lines <count>`. */
    options: command.options.map((each) => [optionLabel(each), each.description] as const),
    /** Wrapped to 80 columns, without the library's blank line before each item of a list. */
    details: details.trimEnd().replace(/ +$|\n(?=\n- )/gm, ''),
    examples: examples.map(([what, line]) => [what.trimEnd(), line] as const),
  };
}

const argumentLabel = ({ name, kind }: Argument<unknown>): string =>
  ({ required: `<${name}>`, optional: `[${name}]`, rest: name === '' ? '…' : `[${name}…]` })[kind];

const optionLabel = ({ names, value }: NamedOption): string =>
  `${names.join(', ')}${value === null ? '' : ` <${value}>`}`;
