/** Finds the arguments of a command that a shell or another interpreter executes as code. */
import { CODE_VARIABLES, INTERPRETER_ROWS, WRAPPER_NAMES } from './built/interpreters.ts';

/** Null for a text that is unknown until the command runs; it may also be an option. */
export type ArgumentText = string | null;

export interface CodeArgument {
  /** Index of the argument in the command. */
  readonly index: number;
  /** The interpreter, as written. */
  readonly program: string;
  readonly interpreter: Interpreter;
}

/** In order, without duplicates. Also finds interpreters after wrappers: `env`, `sudo`, `timeout 5`, `docker exec`. */
export function codeArguments(argv: readonly ArgumentText[]): readonly CodeArgument[] {
  const found = new Map<number, CodeArgument>();
  for (const [at, program] of argv.entries()) {
    // The argument after code is its `$0`, which usually has the interpreter's name.
    if (program === null || found.has(at - 1)) continue;
    const interpreter = INTERPRETERS.get(programName(program));
    if (interpreter === undefined || !mayRunAt(argv, at, interpreter)) continue;
    for (const index of READERS[interpreter.reads](argv, at + 1, interpreter)) {
      if (!found.has(index)) found.set(index, { index, program, interpreter });
    }
  }
  return [...found.values()].sort((a, b) => a.index - b.index);
}

/** Whether the command starts another program, which its arguments name: `sudo`, `xargs`, `docker`. */
export const isWrapper = (program: string): boolean => WRAPPERS.has(programName(program));

/** Whether it is known which of its arguments it executes. */
export const isInterpreter = (program: string): boolean => INTERPRETERS.has(programName(program));

/** `/usr/bin/python3.12` and `C:\Python\python.exe` are python. */
function programName(program: string): string {
  const file = program.slice(Math.max(program.lastIndexOf('/'), program.lastIndexOf('\\')) + 1).toLowerCase();
  return file.replace(/\.(?:exe|cmd|bat)$/, '').replace(/[-.]?\d+(?:[.\d]*)$/, '');
}

/** An interpreter without a code option is recognised only in the position of a program. */
function mayRunAt(argv: readonly ArgumentText[], at: number, { reads }: Interpreter): boolean {
  return at === 0 || reads === 'flag' || reads === 'rest' || isWrapper(argv[0] ?? '');
}

type Reader = (argv: readonly ArgumentText[], from: number, interpreter: Interpreter) => readonly number[];

const READERS: Readonly<Record<Interpreter['reads'], Reader>> = {
  all: (argv, from) => range(from, argv.length),
  rest: (argv, from, { flag }) => {
    const at = argv.findIndex((argument, index) => index >= from && (argument === null || flag.test(argument)));
    return at === -1 ? [] : range(at, argv.length);
  },
  flag: flagged,
  first: (argv, from, interpreter) => [
    ...flagged(argv, from, interpreter),
    ...[firstPlain(argv, from, interpreter.valued)].filter((index) => index < argv.length),
    // These accept options anywhere.
    ...range(from, argv.length).filter((index) => argv[index] === null),
  ],
};

/** For each code option: its own argument, and the next argument that is not an option. */
function flagged(argv: readonly ArgumentText[], from: number, interpreter: Interpreter): readonly number[] {
  const { flag, valued, ends } = interpreter;
  const found: number[] = [];
  let { operands } = interpreter;
  for (let at = from; at < argv.length && operands >= 0; at++) {
    const argument = argv[at] ?? null;
    if (argument === null) {
      found.push(at);
      continue;
    }
    const names = valued.test(argument) || ends.test(argument);
    // Modules that are loaded before or instead of the code: `node -r`, `python -m`.
    if (names && argv[at + 1] === null) found.push(at + 1);
    if (ends.test(argument)) break;
    if (flag.test(argument)) {
      const code = firstPlain(argv, at + 1, valued);
      found.push(...range(at, Math.min(code + 1, argv.length)));
      at = code;
    } else if (valued.test(argument)) at++;
    else if (!isOption(argument)) operands--;
  }
  return found;
}

function firstPlain(argv: readonly ArgumentText[], from: number, valued: RegExp): number {
  let at = from;
  while (at < argv.length && isOption(argv[at] ?? '')) at += valued.test(argv[at] ?? '') && argv[at] !== '--' ? 2 : 1;
  return at;
}

/** Includes `NAME=value`, which precedes the program of `env`. */
const isOption = (argument: string): boolean => /^(?:[-+].|[A-Za-z_]\w*=)/.test(argument);

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);

/** Interpreters by name: which arguments they execute as code, and how their code reads an environment variable. */
export interface Interpreter {
  /**
   * `flag`: the text in or after an option; options end at the first argument that is not one.
   * `rest`: everything after an option. `all`: every argument. `first`: the first argument that is not an option.
   */
  readonly reads: 'flag' | 'rest' | 'all' | 'first';
  /** The option. The code may be in the same argument, or in the next one that is not an option. */
  readonly flag: RegExp;
  /** Options whose value is the next argument. */
  readonly valued: RegExp;
  /** After it, or after this number of non-option arguments, the arguments of the code follow. */
  readonly ends: RegExp;
  readonly operands: number;
  /** How code reads the environment variable `NAME`. */
  readonly variable: string;
}

/** A row of interpreters.yaml. */
interface Row {
  readonly programs: string;
  readonly reads?: Interpreter['reads'];
  readonly flag?: string;
  readonly ignores_case?: boolean;
  readonly valued?: string;
  readonly ends?: string;
  readonly operands?: number | 'any';
  readonly variable: string;
}

const NEVER = '$^';

function interpreterOf({
  reads = 'flag',
  flag = NEVER,
  ignores_case,
  valued = NEVER,
  ends = NEVER,
  ...row
}: Row): Interpreter {
  const { operands = 0, variable } = row;
  return {
    reads,
    flag: new RegExp(flag, ignores_case === true ? 'i' : ''),
    valued: new RegExp(valued),
    ends: new RegExp(ends),
    operands: operands === 'any' ? Number.POSITIVE_INFINITY : operands,
    variable,
  };
}

/** By program name: lower case, without folder, version and `.exe`. */
export const INTERPRETERS: ReadonlyMap<string, Interpreter> = new Map(
  INTERPRETER_ROWS.flatMap((row: Row) => row.programs.split(' ').map((name) => [name, interpreterOf(row)] as const)),
);

/** Programs that start another program, which is named in their arguments. */
export const WRAPPERS: ReadonlySet<string> = new Set(WRAPPER_NAMES.split(' '));

/** Whether programs execute what the environment variable contains, or the file that it names: `BASH_ENV`, `LD_PRELOAD`. */
export const isCodeVariable = (name: string): boolean => CODE_NAMES.test(name);

const CODE_NAMES = new RegExp(`^(?:${CODE_VARIABLES.replaceAll(' ', '|').replaceAll('*', '.*')})$`);
