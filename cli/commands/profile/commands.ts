/** The commands of `hookwright profile`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const PROFILE: CommandGroup = {
  noun: 'profile',
  title: 'Identities of their own on one gateway',
  commands: [
    {
      path: 'profile create',
      summary: 'Make a profile: its own credentials, targets, agent, scripts and sessions',
      load: async () => (await import('./create.ts')).ProfileCreateCommand,
    },
    {
      path: 'profile list',
      summary: 'List the profiles of this home and what is bound to each',
      load: async () => (await import('./list.ts')).ProfileListCommand,
    },
    {
      path: 'profile show',
      summary: 'Show everything a profile can reach: routes, targets, credentials, scripts',
      load: async () => (await import('./show.ts')).ProfileShowCommand,
    },
  ],
};
