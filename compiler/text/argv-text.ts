/** A command line as the list of its arguments, where that is certain. */
import { flowText } from './flow-text.ts';

/** Quotes, variables and redirections are a shell's: how to split such a text is not certain. */
const SHELL = /["'`$|&;<>()*?\\#\n]/;

export const needsShell = (command: string): boolean => SHELL.test(command);

export const argvOf = (command: string): readonly string[] => command.trim().split(/\s+/);

export const argvText = (command: string): string => flowText(argvOf(command));
