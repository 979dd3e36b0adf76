/** Every command, in the order `hookwright --help` shows them. A command's file is loaded only when it runs. */
import type { CommandClass } from 'clipanion';
import type { CliContext } from './context.ts';

export interface CommandEntry {
  /** The words after `hookwright`. */
  readonly path: string;
  /** Its line in `hookwright --help`; the class has the same as `usage.description`. */
  readonly summary: string;
  readonly load: () => Promise<CommandClass<CliContext>>;
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    path: 'schema',
    summary: 'Print the JSON Schema of one kind of file, for editors',
    load: async () => (await import('./commands/schema.ts')).SchemaCommand,
  },
];
