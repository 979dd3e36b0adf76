/** The first hour: init, the wizard, doctor, completion, the service unit. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const setup: Module<CliContext> = {
  name: 'setup',
  summary: 'The first hour: init, the wizard, doctor, completion, the service unit.',
  commands: COMMAND_FILES,
};
