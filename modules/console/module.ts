/** What operators see of a gateway beside its commands: pages, an API, figures over time, and traces. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const console: Module<CliContext> = {
  name: 'console',
  summary: 'Pages and an API for operators, and traces where the program has registered an OpenTelemetry SDK.',
  operations: async () => (await import('./cli/operations.ts')).consoleOperations,
  runtime: {
    console: async () => (await import('./runtime/open-console.ts')).openConsole,
    tracing: async () => (await import('./runtime/telemetry/tracing.ts')).openTracing(),
  },
};
