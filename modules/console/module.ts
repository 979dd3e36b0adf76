/** The console: pages and an API for operators. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const console: Module<CliContext> = {
  name: 'console',
  compiler: async () => (await import('./compiler/part.ts')).consoleCompiler,
  operations: async () => (await import('./cli/operations.ts')).consoleOperations,
  runtime: {
    console: async () => (await import('./runtime/open-console.ts')).openConsole,
  },
};
