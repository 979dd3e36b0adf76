/** The commands of `hookwright deliveries`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const DELIVERIES: CommandGroup = {
  noun: 'deliveries',
  title: 'What became of each event',
  commands: [
    {
      path: 'deliveries list',
      summary: 'List what was accepted, newest first, and what became of it',
      load: async () => (await import('./list.ts')).DeliveriesListCommand,
    },
    {
      path: 'deliveries show',
      summary: 'Show one delivery: every state and attempt, and how it ended',
      load: async () => (await import('./show.ts')).DeliveriesShowCommand,
    },
    {
      path: 'deliveries replay',
      summary: 'Repeat deliveries: each becomes a new one that names the old',
      load: async () => (await import('./replay.ts')).DeliveriesReplayCommand,
    },
  ],
};
