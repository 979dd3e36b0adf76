/** The commands of `hookwright session`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const SESSION: CommandGroup = {
  noun: 'session',
  title: 'Chats into which deliveries are mirrored',
  commands: [
    {
      path: 'session open',
      summary: 'Give a chat a session, into which deliveries can be mirrored',
      load: async () => (await import('./open.ts')).SessionOpenCommand,
    },
    {
      path: 'session list',
      summary: 'List the sessions of a profile',
      load: async () => (await import('./list.ts')).SessionListCommand,
    },
    {
      path: 'session show',
      summary: "Show the turns of a chat's session",
      load: async () => (await import('./show.ts')).SessionShowCommand,
    },
  ],
};
