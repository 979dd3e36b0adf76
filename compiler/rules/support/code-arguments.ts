/** Finds the arguments of a command that a shell or another interpreter executes as code. */
import type { Interpreter } from './interpreters.ts';
import { INTERPRETERS, WRAPPERS } from './interpreters.ts';

/** Null for a text that is not known until the command runs: it may be an option as well. */
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
    // What follows code is its `$0`, which is usually called like the interpreter.
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
    // What is loaded before the code, or instead of it: `node -r`, `python -m`.
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
