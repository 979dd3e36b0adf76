/** Agent programs that act on words of their prompt before a model reads it, and the settings that stop them. */
import type { AgentConfig } from '../../../../schemas/generated/types.ts';
import type { StartedProgram } from './started-programs.ts';
import { isOption, programFile, startedPrograms } from './started-programs.ts';

interface ExpandingProgram {
  /** Its name in messages. */
  readonly name: string;
  /** The file that is started, without `.exe` and the like. */
  readonly files: readonly string[];
  /** The npm package, which `npx` and `bunx` start. */
  readonly package: string;
  /** `anywhere`: all that its user can read. `work folder`: what is in the folder that it works in. */
  readonly reads: 'anywhere' | 'work folder';
  /** Options, and variables with the value 1, that stop it. */
  readonly options: readonly string[];
  readonly variables: readonly string[];
  /** Options without a value. After any other, `--bare` may be its value. */
  readonly flags: RegExp;
  /** The entry of `permissions.deny` in its `--settings` that stops it. */
  readonly denied: string | null;
  /** Below a user's home, the settings of the program itself: a sandbox may open them. */
  readonly ownFolders: readonly string[];
  /** What to write. */
  readonly remedy: string;
  /** What to write where the variables of the agent do not reach it. */
  readonly remedyInside: string;
}

const EMPTY_FOLDER =
  'start it in the empty folder that each run has: without `cwd`, `work`, `cd`, `--chdir` and `--include-directories`';

const IN_WORK_FOLDER = {
  reads: 'work folder',
  options: [],
  variables: [],
  flags: /^$/,
  denied: null,
  ownFolders: [],
  remedy: EMPTY_FOLDER,
  remedyInside: EMPTY_FOLDER,
} as const;

/** As tried with the programs: docs/agents.md, "Text that programs act on". */
export const EXPANDING_PROGRAMS: readonly ExpandingProgram[] = [
  {
    name: 'Claude Code',
    files: ['claude', 'claude-code'],
    package: '@anthropic-ai/claude-code',
    reads: 'anywhere',
    options: ['--bare'],
    variables: ['CLAUDE_CODE_DISABLE_ATTACHMENTS', 'CLAUDE_CODE_SIMPLE'],
    flags:
      /^(?:-[pc]|--(?:print|continue|verbose|bare|safe-mode|no-session-persistence|disable-slash-commands|strict-mcp-config|fork-session|include-partial-messages|replay-user-messages|(?:allow-)?dangerously-skip-permissions))$/,
    denied: 'Read(//**)',
    ownFolders: ['.claude', '.claude.json'],
    remedy:
      'write `env: { CLAUDE_CODE_DISABLE_ATTACHMENTS: "1" }`, and with an API key also `command: [claude, --bare, -p, --no-session-persistence, --tools, ""]`',
    remedyInside:
      'write `env CLAUDE_CODE_DISABLE_ATTACHMENTS=1 claude` instead of `claude` there, or `--bare` directly after it, because `agent.env` does not reach it for sure',
  },
  {
    name: 'Gemini CLI',
    files: ['gemini'],
    package: '@google/gemini-cli',
    ...IN_WORK_FOLDER,
  },
  {
    name: 'Qwen Code',
    files: ['qwen'],
    package: '@qwen-code/qwen-code',
    ...IN_WORK_FOLDER,
  },
];

/** An agent as written, or its argv alone. */
export interface StartedAgent extends Pick<AgentConfig, 'env' | 'cwd' | 'work'> {
  readonly command?: readonly string[];
}

interface Start extends StartedProgram {
  readonly program: ExpandingProgram;
}

/** The first program of the command that replaces `@path` in its prompt with a file; null if there is none, or if it is stopped. */
export function programThatExpands(agent: StartedAgent): Pick<Start, 'program' | 'getsVariables'> | null {
  const keepsFolder = agent.cwd !== undefined || (agent.work ?? 'run') !== 'run';
  const readsFiles = ({ program, isElsewhere, args }: Start): boolean =>
    program.reads === 'anywhere' || keepsFolder || isElsewhere || args.some((arg) => FURTHER_FOLDERS.test(arg));
  return startsOf(agent).find((each) => readsFiles(each) && !isStopped(each)) ?? null;
}

/** The first program of the command that reads `/word` at the start of its prompt as a command. */
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

/** False for what may be the value of another option. */
const isOwnWord = ({ flags }: ExpandingProgram, args: readonly string[], at: number): boolean =>
  !isOption(args[at - 1] ?? '') || flags.test(args[at - 1] ?? '');

interface Settings {
  readonly env?: Readonly<Record<string, unknown>>;
  readonly permissions?: { readonly deny?: readonly unknown[] };
}

/** The program uses the last `--settings` alone. Of the path of a file nothing is known here. */
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
