/** The commands of `hookwright source`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const SOURCE: CommandGroup = {
  noun: 'source',
  title: 'Who sends webhooks, and how they sign',
  commands: [
    {
      path: 'source list',
      summary: 'List the senders whose webhooks can be verified',
      load: async () => (await import('./list.ts')).SourceListCommand,
    },
    {
      path: 'source show',
      summary: 'Show how a sender signs and sends, and the steps to connect it',
      load: async () => (await import('./show.ts')).SourceShowCommand,
    },
    {
      path: 'source detect',
      summary: 'Find out which sender a saved request is from, and why it is refused',
      load: async () => (await import('./detect.ts')).SourceDetectCommand,
    },
    {
      path: 'source shape',
      summary: 'Show what the payloads of a sender hold: events, paths, types, values',
      load: async () => (await import('./shape.ts')).SourceShapeCommand,
    },
    {
      path: 'source learn',
      summary: 'Infer the shape of a source of your own from requests it has sent',
      load: async () => (await import('./learn.ts')).SourceLearnCommand,
    },
    {
      path: 'source enroll',
      summary: 'Wait for the secret a sender sends when its webhook is created',
      load: async () => (await import('./enroll.ts')).SourceEnrollCommand,
    },
  ],
};
