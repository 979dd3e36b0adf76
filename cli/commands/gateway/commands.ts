/** The commands of `hookwright gateway`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const GATEWAY: CommandGroup = {
  noun: 'gateway',
  title: 'The running server',
  commands: [
    {
      path: 'gateway setup',
      summary: 'Set up webhooks, secret, agent, target and a first route, step by step',
      load: async () => (await import('./setup.ts')).GatewaySetupCommand,
    },
    {
      path: 'gateway run',
      summary: 'Compile and serve in the foreground; recompile on change',
      load: async () => (await import('./run.ts')).GatewayRunCommand,
    },
    {
      path: 'gateway start',
      summary: 'Start the gateway in the background, with a log file',
      load: async () => (await import('./start.ts')).GatewayStartCommand,
    },
    {
      path: 'gateway install-service',
      summary: 'Have systemd start the gateway at boot, and again after a crash',
      load: async () => (await import('./install-service.ts')).GatewayInstallServiceCommand,
    },
    {
      path: 'gateway stop',
      summary: 'Stop the running gateway: drain its work, wait until it is gone',
      load: async () => (await import('./stop.ts')).GatewayStopCommand,
    },
    {
      path: 'gateway status',
      summary: 'Show whether a gateway serves this home, and what it serves',
      load: async () => (await import('./status.ts')).GatewayStatusCommand,
    },
    {
      path: 'gateway reload',
      summary: 'Make the running gateway load its configuration again, now',
      load: async () => (await import('./reload.ts')).GatewayReloadCommand,
    },
    {
      path: 'gateway logs',
      summary: 'Show the log of the gateway in the background, -f to follow it',
      load: async () => (await import('./logs.ts')).GatewayLogsCommand,
    },
    {
      path: 'gateway metrics',
      summary: "Print the running gateway's metrics as Prometheus text",
      load: async () => (await import('./metrics.ts')).GatewayMetricsCommand,
    },
  ],
};
