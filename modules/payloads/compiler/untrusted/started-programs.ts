/**
 * Finds programs in the command of an agent: behind wrappers (`sudo`, `npx`, `docker run`), and in the code of shells.
 * If the code is unclear, it errs on the safe side: an unknown option may have a value, and an unknown construct sets no variable.
 */
import { codeArguments, isWrapper } from '../../../../compiler/rules/support/code-arguments.ts';
import { isDoubtful, simpleCommands } from './simple-commands.ts';

export interface StartedProgram {
  /** As written: a name, a path or a package. */
  readonly word: string;
  /** Its arguments, up to `--`. */
  readonly args: readonly string[];
  /** Variables that are certainly set for it. */
  readonly variables: Variables;
  /** Whether the variables of the agent reach it: `sudo`, `docker` and `env -i` drop them. */
  readonly getsVariables: boolean;
  /** Whether it may work in another folder than the command: `cd`, `env -C`, `ssh`. */
  readonly isElsewhere: boolean;
  /** Whether it is in code that is not analysed, so that variables and options are uncertain. */
  readonly isDoubted: boolean;
}

type Variables = ReadonlyMap<string, string>;

/** The effect of the words before a program. */
type Surroundings = Pick<StartedProgram, 'variables' | 'getsVariables' | 'isElsewhere' | 'isDoubted'>;

/**
 * What the next word may be. `start`: the program. `wrapper`: an option, a number or the program. `container`: also the name
 * of a container or host. `other`: anything, because an unknown program reads it.
 */
type Position = 'start' | 'wrapper' | 'container' | 'other';

/** Returns the programs in order, one per simple command. @param isSought whether a word is the name, path or package of a sought program */
export function startedPrograms(
  command: readonly string[],
  variables: Variables,
  isSought: (word: string) => boolean,
): readonly StartedProgram[] {
  const around = { variables, getsVariables: true, isElsewhere: false, isDoubted: false };
  return startsIn(command, 'start', around, isSought);
}

const CONTAINERS =
  /^(?:docker|docker-compose|podman|podman-remote|nerdctl|kubectl|oc|machinectl|lxc|lxc-attach|wsl|limactl|multipass|su|ssh|autossh|rsh|mosh|plink|gosu|su-exec|chroot|tmux)$/;
const FURTHER_WRAPPERS =
  /^(?:runuser|xvfb-run|op|doppler|direnv|mise|npm|pnpm|yarn|bun|node|deno|tsx|setpriv|dotenvx?|watch|parallel|eval|pkexec|run0|flatpak-spawn|bwrap)$/;
const DROPS_VARIABLES =
  /^(?:sudo|doas|pkexec|run0|runuser|systemd-run|flatpak-spawn|tmux|docker|docker-compose|podman|podman-remote|nerdctl|kubectl|oc|machinectl|lxc|lxc-attach|wsl|limactl|multipass|su|ssh|autossh|rsh|mosh|plink)$/;
const OTHER_HOST = /^(?:ssh|autossh|rsh|mosh|plink|chroot)$/;
/** Programs of which one argument may be shell code. */
const READS_CODE = /^(?:npx|npm|pnpm|bunx)$/;
/** Options that drop all variables, by wrapper. */
const CLEARS_VARIABLES: Readonly<Record<string, RegExp>> = {
  env: /^(?:-[0a-z]*i[0a-z]*|-|--ignore-e[\w-]*)$/,
  bwrap: /^--clearenv$/,
};
/** Wrappers that accept `NAME=value` before the program. */
const SETS_VARIABLES = /^(?:env|sudo|doas)$/;
/** Options of wrappers whose value may have a program's name: a user, a group, a folder. */
const TAKES_NAME = /^(?:-\w*[ugCD]|--(?:user|group|name|chdir|cwd|dir))$/;
const CHANGES_FOLDER = /^(?:-[CDw]|--(?:chdir|cwd|dir|workdir|directory)(?:=|$))/;
/** Operands between a wrapper's name and the program: a subcommand, a duration, a folder. */
const OPERAND = /^(?:compose|container|run|exec|shell|new|new-session|new-window|x|dlx|[\d.]+\w?)$/;
/** Words before a program in a `find` command. */
const FIND_EXEC = /^-(?:exec|ok)(?:dir)?$/;
const FIND_IN_FOLDER = /^-(?:exec|ok)dir$/;
const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s;

/** Returns the name without folder, `.exe` and similar endings. */
export const programFile = (word: string): string =>
  (word.split(/[/\\]/).at(-1) ?? '').toLowerCase().replace(/\.(?:exe|cmd|bat|ps1)$/, '');

export const isOption = (word: string): boolean => /^-(?!-$)/.test(word) && !word.includes('=');

function startsIn(
  words: readonly string[],
  from: Position,
  around: Surroundings,
  isSought: (word: string) => boolean,
): readonly StartedProgram[] {
  const code = codeArguments(words)[0]?.index ?? words.length;
  let position = from;
  let wrapper = '';
  const { isDoubted } = around;
  let { variables, getsVariables, isElsewhere } = around;
  for (const [at, word] of words.entries()) {
    const previous = words[at - 1] ?? '';
    const isProgram = mayBeProgram(position, previous, words[at + 1] ?? '');
    if (at >= code) break;
    if (isProgram && isSought(word)) {
      const rest = words.slice(at + 1);
      const end = rest.indexOf('--');
      return [{ word, args: end < 0 ? rest : rest.slice(0, end), variables, getsVariables, isElsewhere, isDoubted }];
    }
    if (position !== 'other' && READS_CODE.test(wrapper) && /\s/.test(word))
      return startsInShell(word, 'start', { variables, getsVariables, isElsewhere, isDoubted }, isSought);
    const file = programFile(word);
    isElsewhere ||= FIND_IN_FOLDER.test(word);
    if ((isProgram || (position === 'other' && !isOption(previous))) && kindOf(file) !== 'other') {
      [position, wrapper] = [kindOf(file), file];
      isElsewhere ||= OTHER_HOST.test(file);
      if (DROPS_VARIABLES.test(file)) [variables, getsVariables] = [new Map(), false];
    } else if (CLEARS_VARIABLES[wrapper]?.test(word) === true) {
      [variables, getsVariables] = [new Map(), false];
    } else if (position !== 'other') {
      isElsewhere ||= position !== 'start' && CHANGES_FOLDER.test(word);
      variables = withWord(variables, { word, previous, wrapper, position }, around.variables);
      if (isPlain(word) && (position === 'start' || (position === 'wrapper' && !isOption(previous))))
        position = 'other';
    }
  }
  return startsInCode(words, { variables, getsVariables, isElsewhere, isDoubted }, isSought);
}

const kindOf = (file: string): Position =>
  CONTAINERS.test(file) ? 'container' : isWrapper(file) || FURTHER_WRAPPERS.test(file) ? 'wrapper' : 'other';

const isPlain = (word: string): boolean => !/^-/.test(word) && !OPERAND.test(word) && !ASSIGNMENT.test(word);

function mayBeProgram(position: Position, previous: string, next: string): boolean {
  if (position === 'start' || previous === '--' || FIND_EXEC.test(previous)) return true;
  if (position === 'wrapper') return !TAKES_NAME.test(previous);
  if (position === 'container')
    return (
      previous === '--entrypoint' ||
      !(/^-/.test(previous) || OPERAND.test(previous) || kindOf(programFile(previous)) === 'container')
    );
  return !isOption(previous) && isOption(next);
}

interface Before {
  readonly word: string;
  readonly previous: string;
  readonly wrapper: string;
  readonly position: Position;
}

/** @param outer the variables of the wrapper itself, which `docker run -e NAME` passes on */
function withWord(variables: Variables, { word, previous, wrapper, position }: Before, outer: Variables): Variables {
  if (wrapper === 'env') {
    const [, unset = ''] = /^(?:-u|--u\w*=)(.+)$/.exec(/^(?:-u|--u\w*)$/.test(previous) ? `-u${word}` : word) ?? [];
    if (unset !== '') return without(variables, unset);
  }
  if (wrapper === 'bwrap' && /^--(?:un)?setenv$/.test(previous)) return without(variables, word);
  const isPassed = position === 'container' && /^(?:-\w*e|--env)$/.test(previous);
  const attached = position === 'container' ? /^(?:-e|--env=)(.+)$/s.exec(word)?.[1] : undefined;
  const text = attached ?? word;
  if (isPassed && outer.has(text)) return new Map([...variables, [text, outer.get(text) ?? '']]);
  const [, name, value] = ASSIGNMENT.exec(text) ?? [];
  const isSet = position === 'start' || SETS_VARIABLES.test(wrapper) || isPassed || attached !== undefined;
  return isSet && name !== undefined && value !== undefined ? new Map([...variables, [name, value]]) : variables;
}

const NONE: Variables = new Map();

const without = (variables: Variables, name: string): Variables =>
  new Map([...variables].filter(([each]) => each !== name));

/** Finds programs in the command's code: in shell code, and in code of other languages the words that look like a command. */
function startsInCode(
  words: readonly string[],
  around: Surroundings,
  isSought: (word: string) => boolean,
): readonly StartedProgram[] {
  const codes = codeArguments(words);
  const [first] = codes;
  if (first === undefined) return [];
  const { program, interpreter, index } = first;
  const file = programFile(program);
  if (interpreter.reads === 'all') {
    const from = CONTAINERS.test(file) ? hostAt(words, index) + 1 : index;
    return startsInShell(
      words.slice(from).join(' '),
      FURTHER_WRAPPERS.test(file) ? 'wrapper' : kindOf(file),
      around,
      isSought,
    );
  }
  if (interpreter.reads === 'rest') return startsInShell(words.slice(index + 1).join(' '), 'start', around, isSought);
  const texts = codes.map((code) => words[code.index] ?? '').filter((text) => !isOption(text));
  if (interpreter.variable === '$NAME' || file === 'env')
    return texts.flatMap((text) => startsInShell(text, 'start', around, isSought));
  const found = texts.flatMap((text) => startsIn(text.split(/[\s"'`()[\],;]+/), 'other', around, isSought));
  return found.map((start) => ({ ...start, args: [] }));
}

/** Options of `ssh` that take a value. */
const SSH_VALUED = /^-[BbcDEeFIiJLlmOopQRSWw]$/;

const hostAt = (words: readonly string[], from: number): number =>
  words.findIndex((word, at) => at >= from && !/^-/.test(word) && !SSH_VALUED.test(words[at - 1] ?? ''));

function startsInShell(
  code: string,
  from: Position,
  around: Surroundings,
  isSought: (word: string) => boolean,
): readonly StartedProgram[] {
  const isDoubted = around.isDoubted || isDoubtful(code);
  const getsVariables = around.getsVariables && !isDoubted;
  let { variables, isElsewhere } = isDoubted ? { variables: NONE, isElsewhere: true } : around;
  const found: StartedProgram[] = [];
  for (const [at, { words, isExport }] of simpleCommands(code).entries()) {
    const [first = '', ...rest] = words;
    const position = at === 0 && from !== 'container' ? from : 'start';
    const before = { variables: isDoubted ? NONE : variables, getsVariables, isElsewhere, isDoubted };
    const starts = startsIn(words, position, before, isSought);
    // `${X:+ NAME=1 }` may set nothing.
    const isUnclear = isDoubted && words.some((word) => word.includes('${'));
    found.push(...(isUnclear ? starts.map((start) => ({ ...start, variables: NONE })) : starts));
    isElsewhere ||= first === 'cd' || first === 'pushd';
    for (const word of first === 'export' || first === 'unset' ? rest : words) {
      const [, name = word, value = ''] = ASSIGNMENT.exec(word) ?? [];
      if (isExport) variables = new Map([...variables, [name, value]]);
      else if (first === 'unset' || words.every((each) => ASSIGNMENT.test(each)) || first === 'export')
        variables = without(variables, name);
    }
  }
  return found;
}
