/** Mail as a target, over SMTP. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const mail: Module<CliContext> = {
  name: 'mail',
  runtime: {
    drivers: { email: async () => (await import('./runtime/email.ts')).createEmailDriver },
  },
};
