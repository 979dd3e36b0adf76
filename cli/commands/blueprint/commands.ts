/** The commands of `hookwright blueprint`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const BLUEPRINT: CommandGroup = {
  noun: 'blueprint',
  title: 'Recurring tasks ready to be set up',
  commands: [
    {
      path: 'blueprint list',
      summary: 'List the blueprints: recurring tasks ready to be set up',
      load: async () => (await import('./list.ts')).BlueprintListCommand,
    },
    {
      path: 'blueprint show',
      summary: 'Show a blueprint: its fields, its command and link, its next five runs',
      load: async () => (await import('./show.ts')).BlueprintShowCommand,
    },
    {
      path: 'blueprint fill',
      summary: 'Show the job a blueprint would make with these values; nothing is created',
      load: async () => (await import('./fill.ts')).BlueprintFillCommand,
    },
    {
      path: 'blueprint command',
      summary: 'Print the chat command of a blueprint with these values',
      load: async () => (await import('./command.ts')).BlueprintCommandCommand,
    },
    {
      path: 'blueprint link',
      summary: 'Print the application link of a blueprint with these values',
      load: async () => (await import('./link.ts')).BlueprintLinkCommand,
    },
    {
      path: 'blueprint create',
      summary: 'Make the job that a blueprint describes, from values, a command or a link',
      load: async () => (await import('./create.ts')).BlueprintCreateCommand,
    },
  ],
};
