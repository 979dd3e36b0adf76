/** Reports a damaged, missing or foreign store file, quarantines damaged rows, and backs up and restores the store. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const rescue: Module<CliContext> = {
  name: 'rescue',
  commands: COMMAND_FILES,
  operations: async () => (await import('./cli/operations.ts')).rescueOperations,
  runtime: {
    rescue: async () => (await import('./runtime/rescue.ts')).sqliteRescue,
  },
  damage: async () => (await import('./cli/operations.ts')).checkDamage,
};
