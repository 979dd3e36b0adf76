/** What a mistake in a configuration means, as people know it from other tools, and its repair. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const tutor: Module<CliContext> = {
  name: 'tutor',
  summary: 'What a mistake in a configuration means, as people know it from other tools, and its repair.',
  compiler: async () => (await import('./compiler/tutor.ts')).tutorCompiler,
  repair: async () => (await import('./compiler/repair-rounds.ts')).repairRounds,
};
