/** Sandboxes that restrict the files, hosts and secrets of agents and scripts. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';
import { COMMAND_FILES } from './cli/built/command-files.ts';

export const sandbox: Module<CliContext> = {
  name: 'sandbox',
  commands: COMMAND_FILES,
  compiler: async () => ({ rules: (await import('./compiler/rules/built/rule-files.ts')).RULE_FILES }),
  runtime: {
    sandbox: async () => {
      const [{ openSandbox }, { listProtectedFiles: keptFiles }] = await Promise.all([
        import('./runtime/sandbox.ts'),
        import('./runtime/gateway-files.ts'),
      ]);
      return { open: openSandbox, keptFiles };
    },
  },
};
