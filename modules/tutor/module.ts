/** Explains mistakes in configurations that come from other tools, and repairs them. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const tutor: Module<CliContext> = {
  name: 'tutor',
  compiler: async () => (await import('./compiler/tutor.ts')).tutorCompiler,
  repair: async () => (await import('./compiler/repair-rounds.ts')).repairRounds,
};
