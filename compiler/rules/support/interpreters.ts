/** Interpreters by name: which arguments they execute as code, and how their code reads an environment variable. */
import { CODE_VARIABLES, INTERPRETER_ROWS, WRAPPER_NAMES } from './built/interpreters.ts';

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
