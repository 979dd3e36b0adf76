/** The module for getting started: init, the setup wizard, doctor, shell completion and the service unit. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const setup: Module<CliContext> = {
  name: 'setup',
  commands: COMMAND_FILES,
};
