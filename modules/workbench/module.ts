/** Captures, explains, tests and replays requests, and compares a new configuration before it is served. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const workbench: Module<CliContext> = {
  name: 'workbench',
  commands: COMMAND_FILES,
  operations: async () => (await import('./cli/operations.ts')).workbenchOperations,
  runtime: {
    keeper: async () => (await import('./runtime/capture/keep.ts')).openKeeper,
  },
  kept: async () => (await import('./cli/capture-tools.ts')).captureTools,
  saved: async () => (await import('./cli/sources/read-capture.ts')).readCapture,
  gate: async () => (await import('./cli/capture-tools.ts')).passGate,
};
