/** The commands of `hookwright convert`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const CONVERT: CommandGroup = {
  noun: 'convert',
  title: 'Configs of other programs',
  commands: [
    {
      path: 'convert hermes',
      summary: 'Convert the webhook routes of a Hermes Agent config',
      load: async () => (await import('./hermes.ts')).ConvertHermesCommand,
    },
    {
      path: 'convert adnanh',
      summary: 'Convert the hooks of adnanh/webhook',
      load: async () => (await import('./adnanh.ts')).ConvertAdnanhCommand,
    },
  ],
};
