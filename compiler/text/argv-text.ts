/** Splits a command line into arguments, if that is unambiguous. */

/** Shell syntax, with which splitting would be ambiguous. */
const SHELL = /["'`$|&;<>()*?\\#\n]/;

export const needsShell = (command: string): boolean => SHELL.test(command);

export const argvOf = (command: string): readonly string[] => command.trim().split(/\s+/);
