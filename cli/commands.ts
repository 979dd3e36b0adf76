/** Every command, in the order `hookwright --help` shows them. A command's file is loaded only when it runs. */
import type { CommandClass } from 'clipanion';
import type { CliContext } from './context.ts';

export interface CommandEntry {
  /** The words after `hookwright`. */
  readonly path: string;
  /** Its line in `hookwright --help`; the class has the same as `usage.description`. */
  readonly summary: string;
  /** For programs: not shown in lists of commands. */
  readonly hidden?: boolean;
  readonly load: () => Promise<CommandClass<CliContext>>;
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    path: 'gateway stop',
    summary: 'Stop the running gateway: drain its work, wait until it is gone',
    load: async () => (await import('./commands/gateway-stop.ts')).GatewayStopCommand,
  },
  {
    path: 'gateway status',
    summary: 'Show whether a gateway serves this home, and what it serves',
    load: async () => (await import('./commands/gateway-status.ts')).GatewayStatusCommand,
  },
  {
    path: 'gateway reload',
    summary: 'Make the running gateway load its configuration again, now',
    load: async () => (await import('./commands/gateway-reload.ts')).GatewayReloadCommand,
  },
  {
    path: 'gateway logs',
    summary: 'Show the log of the gateway in the background, -f to follow it',
    load: async () => (await import('./commands/gateway-logs.ts')).GatewayLogsCommand,
  },
  {
    path: 'gateway metrics',
    summary: "Print the running gateway's metrics as Prometheus text",
    load: async () => (await import('./commands/gateway-metrics.ts')).GatewayMetricsCommand,
  },
  {
    path: 'schema',
    summary: 'Print the JSON Schema of one kind of file, for editors',
    load: async () => (await import('./commands/schema.ts')).SchemaCommand,
  },
  {
    path: 'completion',
    summary: 'Print the completion script for bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).CompletionCommand,
  },
  {
    path: 'complete',
    summary: 'Print what may follow the given words, for completion scripts',
    hidden: true,
    load: async () => (await import('./commands/complete.ts')).CompleteCommand,
  },
];
