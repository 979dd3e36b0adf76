/** Converts configurations of other programs. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const convert: Module<CliContext> = {
  name: 'convert',
  commands: COMMAND_FILES,
};
