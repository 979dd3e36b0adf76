/** The commands of `hookwright requests`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const REQUESTS: CommandGroup = {
  noun: 'requests',
  title: 'What came in, and why it was answered as it was',
  commands: [
    {
      path: 'requests list',
      summary: 'List the requests that were kept, newest first',
      load: async () => (await import('./list.ts')).RequestsListCommand,
    },
    {
      path: 'requests show',
      summary: 'Show one request: what decided, why, and what to do next',
      load: async () => (await import('./show.ts')).RequestsShowCommand,
    },
    {
      path: 'requests replay',
      summary: 'Send a kept request through the running gateway again',
      load: async () => (await import('./replay.ts')).RequestsReplayCommand,
    },
  ],
};
