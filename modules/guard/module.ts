/** The guard: usage, budgets, loop limits, alerts and the heartbeat. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const guard: Module<CliContext> = {
  name: 'guard',
  commands: COMMAND_FILES,
  compiler: async () => ({ rules: (await import('./compiler/rules/built/rule-files.ts')).RULE_FILES }),
  runtime: {
    changes: async () => (await import('./runtime/run-limits.ts')).limitsPart,
    limits: async () => (await import('./runtime/run-limits.ts')).runLimits,
    guard: async () => (await import('./runtime/open-guard.ts')).openGuard,
  },
};
