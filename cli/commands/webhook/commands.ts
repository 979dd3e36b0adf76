/** The commands of `hookwright webhook`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const WEBHOOK: CommandGroup = {
  noun: 'webhook',
  title: 'Routes made while it runs, and test events',
  commands: [
    {
      path: 'webhook subscribe',
      summary: 'Make a route that needs no configuration, or change one',
      load: async () => (await import('./subscribe.ts')).WebhookSubscribeCommand,
    },
    {
      path: 'webhook list',
      summary: 'List the subscriptions and what the gateway makes of each',
      load: async () => (await import('./list.ts')).WebhookListCommand,
    },
    {
      path: 'webhook show',
      summary: 'Show one subscription; with --reveal its secrets too',
      load: async () => (await import('./show.ts')).WebhookShowCommand,
    },
    {
      path: 'webhook remove',
      summary: 'Remove a subscription',
      load: async () => (await import('./remove.ts')).WebhookRemoveCommand,
    },
    {
      path: 'webhook enable',
      summary: 'Let a subscription accept events again',
      load: async () => (await import('./enable.ts')).WebhookEnableCommand,
    },
    {
      path: 'webhook disable',
      summary: 'Keep a subscription, and answer its events 403',
      load: async () => (await import('./disable.ts')).WebhookDisableCommand,
    },
    {
      path: 'webhook rotate-secret',
      summary: 'Give a subscription a new secret; the old one stays valid for a while',
      load: async () => (await import('./rotate-secret.ts')).WebhookRotateSecretCommand,
    },
    {
      path: 'webhook test',
      summary: 'Send a signed event to a route and print the answer',
      load: async () => (await import('./test.ts')).WebhookTestCommand,
    },
  ],
};
