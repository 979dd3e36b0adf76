/** A damaged, missing or foreign file of the store is recognised and said, damaged rows are set aside, and a copy is made and put back. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const rescue: Module<CliContext> = {
  name: 'rescue',
  summary:
    'A damaged, missing or foreign file of the store is recognised and said, damaged rows are set aside, and a copy is made and put back.',
  commands: COMMAND_FILES,
  operations: async () => (await import('./cli/operations.ts')).rescueOperations,
  runtime: {
    rescue: async () => (await import('./runtime/rescue.ts')).sqliteRescue,
  },
  damage: async () => (await import('./cli/operations.ts')).checkDamage,
};
