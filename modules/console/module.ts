/** The console: pages and an API for operators. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const console: Module<CliContext> = {
  name: 'console',
  compiler: async () => ({ rules: (await import('./compiler/rules/built/rule-files.ts')).RULE_FILES }),
  operations: async () => (await import('./cli/operations.ts')).consoleOperations,
  runtime: {
    console: async () => (await import('./runtime/open-console.ts')).openConsole,
  },
};
