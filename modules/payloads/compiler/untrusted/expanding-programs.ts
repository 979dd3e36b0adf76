/** Finds agent programs that expand words in their prompt before a model reads it, unless settings stop them. */
import type { AgentConfig } from '../../../../schemas/generated/types.ts';
import { EXPANDING_PROGRAMS as PROGRAMS } from './built/expanding-programs.ts';
import type { StartedProgram } from './started-programs.ts';
import { isOption, programFile, startedPrograms } from './started-programs.ts';

/** A row of `expanding-programs.yaml`, which explains the members. */
interface ExpandingProgram {
  readonly name: string;
  readonly files: readonly string[];
  readonly package: string;
  readonly reads: 'anywhere' | 'work folder';
  readonly options: readonly string[];
  readonly variables: readonly string[];
  readonly flags: RegExp;
  readonly denied: string | null;
  readonly own_folders: readonly string[];
  readonly remedy: string;
  readonly remedy_inside: string;
}

export const EXPANDING_PROGRAMS: readonly ExpandingProgram[] = PROGRAMS.map((program) => ({
  ...program,
  flags: new RegExp(program.flags),
}));

/** An agent as configured, or only its argv. */
export interface StartedAgent extends Pick<AgentConfig, 'env' | 'cwd' | 'work'> {
  readonly command?: readonly string[];
}

interface Start extends StartedProgram {
  readonly program: ExpandingProgram;
}

/** Returns the first program of the command that replaces `@path` in its prompt with a file; null if there is none, or settings stop it. */
export function programThatExpands(agent: StartedAgent): Pick<Start, 'program' | 'getsVariables'> | null {
  const keepsFolder = agent.cwd !== undefined || (agent.work ?? 'run') !== 'run';
  const readsFiles = ({ program, isElsewhere, args }: Start): boolean =>
    program.reads === 'anywhere' || keepsFolder || isElsewhere || args.some((arg) => FURTHER_FOLDERS.test(arg));
  return startsOf(agent).find((each) => readsFiles(each) && !isStopped(each)) ?? null;
}

/** Returns the first program of the command that runs `/word` at the start of its prompt as a command. */
export const programWithCommands = (agent: StartedAgent): ExpandingProgram | null =>
  startsOf(agent)[0]?.program ?? null;

const FURTHER_FOLDERS = /^--(?:include-directories|add-dir)(?:=|$)/;

function startsOf({ command = [], env = {} }: StartedAgent): readonly Start[] {
  const given = Object.entries(env).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  const starts = startedPrograms(command, new Map(given), (word) => programOf(word) !== null);
  return starts.flatMap((start) => {
    const program = programOf(start.word);
    return program === null ? [] : [{ ...start, program }];
  });
}

const isOn = (value: unknown): boolean => /^(?:1|true|yes|on)$/i.test(String(value));

function isStopped({ program, args, variables, isDoubted }: Start): boolean {
  const isClear = (at: number): boolean => !isDoubted || args.slice(0, at).every((arg) => program.flags.test(arg));
  const settings = isDoubted ? {} : lastSettings(program, args);
  if (settings.permissions?.deny?.includes?.(program.denied) === true) return true;
  // The variables of the settings replace those of its process.
  if (program.variables.some((name) => Object.hasOwn(settings.env ?? {}, name) && !isOn(settings.env?.[name])))
    return false;
  return (
    program.variables.some((name) => isOn(variables.get(name) ?? '')) ||
    args.some((arg, at) => program.options.includes(arg) && isOwnWord(program, args, at) && isClear(at))
  );
}

/** False for a word that may be the value of another option. */
const isOwnWord = ({ flags }: ExpandingProgram, args: readonly string[], at: number): boolean =>
  !isOption(args[at - 1] ?? '') || flags.test(args[at - 1] ?? '');

interface Settings {
  readonly env?: Readonly<Record<string, unknown>>;
  readonly permissions?: { readonly deny?: readonly unknown[] };
}

/** The program uses only the last `--settings`. The content of a settings file is unknown here. */
function lastSettings(program: ExpandingProgram, args: readonly string[]): Settings {
  const values = args.flatMap((arg, at) => {
    const [, attached] = /^--settings=(.*)$/s.exec(arg) ?? [];
    return (arg === '--settings' || attached !== undefined) && isOwnWord(program, args, at)
      ? [attached ?? args[at + 1] ?? '']
      : [];
  });
  try {
    return (JSON.parse(values.at(-1) ?? '{}') as Settings | null) ?? {};
  } catch {
    return {};
  }
}

const programOf = (word: string): ExpandingProgram | null =>
  EXPANDING_PROGRAMS.find(
    (each) => each.files.includes(programFile(word).replace(VERSION, '')) || isOfPackage(word, each.package),
  ) ?? null;

/** `claude-2.1.197` */
const VERSION = /-v?\d+(?:\.\d+)*$/;

/** `@scope/name`, `@scope/name@1.2`, `…/node_modules/@scope/name/cli.js`. */
const isOfPackage = (word: string, name: string): boolean =>
  `/${word}/`
    .replaceAll('\\', '/')
    .replace(/(?<=.)@[\w.^~-]+\/$/, '/')
    .includes(`/${name}/`);
