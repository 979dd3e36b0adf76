/** Closes a route whose command would execute what a sender writes: the same table as for the rule `shell-placeholder`. */
import type { CodeArgument } from '../../../../compiler/rules/support/code-arguments.ts';
import { codeArguments, isInterpreter, isWrapper } from '../../../../compiler/rules/support/code-arguments.ts';
import type { Interpreter } from '../../../../compiler/rules/support/interpreters.ts';
import { isCodeVariable } from '../../../../compiler/rules/support/interpreters.ts';
import type { DraftRoute, Settings } from '../draft.ts';
import { closeRoute } from '../draft.ts';
import type { CommandValue, HookCommand } from './convert-command.ts';
import { fieldOf } from './hook-value.ts';

/** What a program file does with the values is unknown; a note of the conversion says so. */
export function closeExecuted(command: HookCommand, hook: Settings, route: DraftRoute): void {
  const close = (key: string, at: number | null, reason: string): void => {
    const path = fieldOf(hook, key, route.path)?.path ?? route.path;
    closeRoute(route, at === null ? path : [...path, at], reason, INSTEAD);
  };
  const argv = [command.command, ...command.arguments.map((value) => (isSent(value) ? null : (value.name ?? '')))];
  const code = codeArguments(argv);
  for (const [at, value] of command.arguments.entries()) {
    const reason = isSent(value) ? whyExecuted(command.command, code, at + 1) : null;
    if (reason !== null) close('pass-arguments-to-command', at, reason);
  }
  const variables = [
    ...command.environment.map((value, at) => ({ key: 'pass-environment-to-command', at, value })),
    ...command.files.map((value, at) => ({ key: 'pass-file-to-command', at, value })),
  ];
  for (const { key, at, value } of variables)
    if (isSent(value) && isCodeVariable(value.variable))
      close(key, at, `programs execute what \`${value.variable}\` contains or names, and the sender writes it`);
  const isGiven = [...command.arguments, ...variables.map(({ value }) => value)].some(isSent);
  const doubtful = code.findLast(({ index, interpreter }) => {
    const text = argv[index];
    return typeof text === 'string' && !(isShell(interpreter) && isPlainShell(text));
  });
  if (isGiven && doubtful !== undefined)
    close(
      'pass-arguments-to-command',
      doubtful.index - 1,
      `this code for \`${doubtful.program}\` may execute what the sender writes`,
    );
}

const INSTEAD =
  'Put the code into a script that takes the value as data, and pass it after the name of the script; then remove `enabled: false`';

/** Whether the sender chooses the text. */
const isSent = ({ from }: CommandValue): boolean => from !== 'text';

function whyExecuted(command: string, code: readonly CodeArgument[], index: number): string | null {
  const read = code.find((found) => found.index === index);
  if (read !== undefined) return `\`${read.program}\` reads this argument as code, and the sender writes it`;
  if (isWrapper(command))
    return `\`${command}\` starts a program that its arguments name, and the sender writes this one`;
  return isForeign(command)
    ? `what \`${command}\` does with its arguments is unknown here, and the sender writes this one`
    : null;
}

/** Folders that packages fill; a name without a folder is looked for there. */
const SYSTEM = /^(?:(?:\/usr(?:\/local)?|\/snap|\/opt\/homebrew)?\/s?bin\/)?[^/]+$/;
const IS_SCRIPT = /\.(?:sh|bash|zsh|py|pl|rb|js|mjs|ts|php|lua)$/;
/** Programs that print what they are given. */
const PRINTING = new Set(['echo', 'logger', 'notify-send', 'wall']);

/**
 * A program of the system that is neither known to print its arguments nor an interpreter, of which it is known which arguments
 * are code. Many execute one or read it as a file: `tar --to-command`, `java -cp`, `rsync -e`.
 */
const isForeign = (program: string): boolean =>
  SYSTEM.test(program) && !IS_SCRIPT.test(program) && !isInterpreter(program) && !PRINTING.has(fileName(program));

const fileName = (program: string): string => program.slice(program.lastIndexOf('/') + 1);

const isShell = ({ variable }: Interpreter): boolean => variable === '$NAME';

/** A program, with words and quoted variables as its arguments. */
const COMMAND = /^[\w./:@,+-]+(?: +(?:[\w./:@,+=-]+|"[^"`$\\]*(?:\$(?:\w+|\{\w+\}|[@*])[^"`$\\]*)*"))*$/;
/** Reserved words, and builtins that execute an argument, or evaluate it as an expression or as the name of a variable. */
const EVALUATING = new Set(
  [
    '. source eval exec command builtin trap alias let time coproc declare typeset local export readonly unset read printf test',
    'mapfile readarray bind complete compgen enable hash wait if then elif else do while until',
  ].flatMap((line) => line.split(' ')),
);

/** Whether variables are only ever arguments of programs that do not execute them: any other code may do anything. */
function isPlainShell(text: string): boolean {
  return text.split(/ *(?:&&|\|\||[;\n]) */).every((command) => {
    if (command === '') return true;
    if (!COMMAND.test(command)) return false;
    const [program = '', ...rest] = command.match(/"[^"]*"|[^ ]+/g) ?? [];
    const argv = [program, ...rest.map((word) => (word.includes('$') ? null : word))];
    const isRead = codeArguments(argv).some(({ index }) => argv[index] === null);
    const isKnown = !argv.includes(null) || !isForeign(program);
    return !isRead && isKnown && !isWrapper(program) && !EVALUATING.has(program);
  });
}
