/** Outputs of agents, approvals, and the status URL of events. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const outputs: Module<CliContext> = {
  name: 'outputs',
  commands: COMMAND_FILES,
  compiler: async () => (await import('./compiler/part.ts')).outputsCompiler,
  operations: async () => (await import('./cli/operations.ts')).outputOperations,
  runtime: {
    changes: async () => (await import('./runtime/store-part.ts')).approvalsPart,
    outputs: async () => (await import('./runtime/open-handover.ts')).openHandover,
    statuses: async () => (await import('./runtime/status-url.ts')).openStatuses,
    approvals: async () => (await import('./runtime/open-approvals.ts')).openApprovals,
  },
};
