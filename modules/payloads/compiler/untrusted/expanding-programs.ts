/** Agent programs that act on words of their prompt before a model reads it, and the settings that stop them. */
import { codeArguments, isWrapper } from '../../../../compiler/rules/support/code-arguments.ts';
import type { AgentConfig } from '../../../../schemas/generated/types.ts';

export interface ExpandingProgram {
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
  /** The entry of `permissions.deny` in its `--settings` that stops it. */
  readonly denied: string | null;
  /** What to write. */
  readonly remedy: string;
}

/** As tried with the programs: docs/agents.md, "What a text alone makes a program do". */
export const EXPANDING_PROGRAMS: readonly ExpandingProgram[] = [
  {
    name: 'Claude Code',
    files: ['claude', 'claude-code'],
    package: '@anthropic-ai/claude-code',
    reads: 'anywhere',
    options: ['--bare'],
    variables: ['CLAUDE_CODE_DISABLE_ATTACHMENTS', 'CLAUDE_CODE_SIMPLE'],
    denied: 'Read(//**)',
    remedy:
      'write `env: { CLAUDE_CODE_DISABLE_ATTACHMENTS: "1" }`, and with an API key also `command: [claude, --bare, -p, --no-session-persistence, --tools, ""]`',
  },
  {
    name: 'Gemini CLI',
    files: ['gemini'],
    package: '@google/gemini-cli',
    reads: 'work folder',
    options: [],
    variables: [],
    denied: null,
    remedy: 'remove `cwd` and `work`, so that each run has an empty folder of its own',
  },
  {
    name: 'Qwen Code',
    files: ['qwen'],
    package: '@qwen-code/qwen-code',
    reads: 'work folder',
    options: [],
    variables: [],
    denied: null,
    remedy: 'remove `cwd` and `work`, so that each run has an empty folder of its own',
  },
];

interface Start {
  readonly program: ExpandingProgram;
  /** What follows the program, up to the next one or `--`. */
  readonly args: readonly string[];
  /** Variables that are set for it. */
  readonly variables: ReadonlyMap<string, string>;
}

/** An agent as written, or its argv alone. */
export interface StartedAgent extends Pick<AgentConfig, 'env' | 'cwd' | 'work'> {
  readonly command?: readonly string[];
}

/** The first program of the command that replaces `@path` in its prompt with a file; null if there is none, or if it is stopped. */
export function programThatExpands(agent: StartedAgent): ExpandingProgram | null {
  const keepsFolder = agent.cwd !== undefined || (agent.work ?? 'run') !== 'run';
  const start = startsOf(agent).find((each) => (each.program.reads === 'anywhere' || keepsFolder) && !isStopped(each));
  return start?.program ?? null;
}

/** The first program of the command that reads `/word` at the start of its prompt as a command. */
export const programWithCommands = (agent: StartedAgent): ExpandingProgram | null =>
  startsOf(agent)[0]?.program ?? null;

const isStopped = ({ program, args, variables }: Start): boolean =>
  args.some((arg) => program.options.includes(arg)) ||
  program.variables.some((name) => /^(?:1|true|yes|on)$/i.test(variables.get(name) ?? '')) ||
  (program.denied !== null && deniedIn(lastSettings(args)).includes(program.denied));

/** The program uses the last `--settings` alone. */
function lastSettings(args: readonly string[]): string {
  const values = args.flatMap((arg, at) =>
    arg === '--settings'
      ? [args[at + 1] ?? '']
      : arg.startsWith('--settings=')
        ? [arg.slice('--settings='.length)]
        : [],
  );
  return values.at(-1) ?? '';
}

/** @param settings JSON; the path of a file denies nothing that is known here */
function deniedIn(settings: string): readonly unknown[] {
  try {
    const parsed = JSON.parse(settings) as { readonly permissions?: { readonly deny?: unknown } } | null;
    const deny = parsed?.permissions?.deny;
    return Array.isArray(deny) ? deny : [];
  } catch {
    return [];
  }
}

function startsOf({ command = [], env = {} }: StartedAgent): readonly Start[] {
  const words = wordsOf(command);
  const found = words.flatMap((word, at) => {
    const program = programOf(word);
    return program === null ? [] : [{ at, program }];
  });
  return found.map(({ at, program }, index) => {
    const rest = words.slice(at + 1, found[index + 1]?.at).map(({ text }) => text);
    const end = rest.indexOf('--');
    const before = words.slice(0, at).map(({ text }) => text);
    return { program, args: end < 0 ? rest : rest.slice(0, end), variables: variablesFor(env, before) };
  });
}

/** Starts its program with other variables than it has itself. */
const DROPS_VARIABLES =
  /^(?:sudo|doas|su|runuser|ssh|docker|podman|nerdctl|kubectl|systemd-run|-i|--ignore-environment)$/;

/** @param before what is in front of the program: `NAME=value` as well */
function variablesFor(env: NonNullable<AgentConfig['env']>, before: readonly string[]): ReadonlyMap<string, string> {
  const dropped = before.findLastIndex((word) => DROPS_VARIABLES.test(fileName(word)));
  const set = before.slice(dropped + 1).flatMap((word) => {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  const given = Object.entries(env).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return new Map(dropped < 0 ? [...given, ...set] : set);
}

interface Word {
  readonly text: string;
  /** It is where a command names a program. */
  readonly mayStart: boolean;
}

/** The value of an option of `sudo` or `docker`. */
const TAKES_NAME = /^(?:-[ug]|--(?:user|group|name))$/;

/** The arguments, with the code of `sh -c` as the words that it consists of. */
function wordsOf(command: readonly string[]): readonly Word[] {
  const code = new Set(codeArguments(command).map(({ index }) => index));
  const isWrapped = isWrapper(command[0] ?? '');
  return command.flatMap((text, index) => {
    if (code.has(index)) return shellWords(text).map((word) => ({ text: word, mayStart: true }));
    const mayStart = index === 0 || (isWrapped && !TAKES_NAME.test(command[index - 1] ?? ''));
    return [{ text, mayStart }];
  });
}

/** Without comments, which set nothing. */
const shellWords = (code: string): readonly string[] =>
  code
    .replace(/(?:^|\s)#.*$/gm, '')
    .split(/[\s;|&()<>`]+/)
    .map((word) => word.replace(/["']/g, ''))
    .filter((word) => word !== '');

function programOf({ text, mayStart }: Word): ExpandingProgram | null {
  const file = fileName(text);
  const found = EXPANDING_PROGRAMS.find(
    (each) => (mayStart && each.files.includes(file)) || isOfPackage(text, each.package),
  );
  return found ?? null;
}

/** `@scope/name`, `@scope/name@1.2`, `…/node_modules/@scope/name/cli.js`. */
const isOfPackage = (word: string, name: string): boolean =>
  `/${word}/`
    .replaceAll('\\', '/')
    .replace(/(?<=.)@[\w.^~-]+\/$/, '/')
    .includes(`/${name}/`);

const fileName = (word: string): string =>
  (word.split(/[/\\]/).at(-1) ?? '').toLowerCase().replace(/\.(?:exe|cmd|bat|ps1)$/, '');
