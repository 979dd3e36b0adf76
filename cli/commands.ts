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

/** What each noun with several commands is about, for `hookwright --help`. */
export const GROUPS: Readonly<Record<string, string>> = {
  gateway: 'The running server',
  webhook: 'Routes made while it runs, and test events',
  source: 'Who sends webhooks, and how they sign',
  profile: 'Identities of their own on one gateway',
  job: 'Scheduled prompts',
  blueprint: 'Recurring tasks ready to be set up',
  deliveries: 'What became of each event',
  session: 'Chats into which deliveries are mirrored',
};

export const COMMANDS: readonly CommandEntry[] = [
  {
    path: 'init',
    summary: 'Start a configuration: a template, its secrets and its tests',
    load: async () => (await import('./commands/init.ts')).InitCommand,
  },
  {
    path: 'compile',
    summary: 'Compile the configuration to build/routes.json and build/blueprints.json',
    load: async () => (await import('./commands/compile.ts')).CompileCommand,
  },
  {
    path: 'lint',
    summary: 'Check the configuration: every diagnostic, nothing written',
    load: async () => (await import('./commands/lint.ts')).LintCommand,
  },
  {
    path: 'explain',
    summary: 'Show what becomes of an event on a route, and why',
    load: async () => (await import('./commands/explain.ts')).ExplainCommand,
  },
  {
    path: 'test',
    summary: 'Run the tests of the configuration: *.test.yaml',
    load: async () => (await import('./commands/test.ts')).TestCommand,
  },
  {
    path: 'diff',
    summary: 'Show what changes in meaning between two configurations',
    load: async () => (await import('./commands/diff.ts')).DiffCommand,
  },
  {
    path: 'serve',
    summary: 'Serve compiled tables; they are loaded again when they change',
    load: async () => (await import('./commands/serve.ts')).ServeCommand,
  },
  {
    path: 'doctor',
    summary: 'Check what the gateway needs: targets, credentials, store, port, clock',
    load: async () => (await import('./commands/doctor.ts')).DoctorCommand,
  },
  {
    path: 'gateway setup',
    summary: 'Set up webhooks, secret, agent, target and a first route, step by step',
    load: async () => (await import('./commands/gateway-setup.ts')).GatewaySetupCommand,
  },
  {
    path: 'gateway run',
    summary: 'Compile and serve in the foreground; recompile on change',
    load: async () => (await import('./commands/gateway-run.ts')).GatewayRunCommand,
  },
  {
    path: 'gateway start',
    summary: 'Start the gateway in the background, with a log file',
    load: async () => (await import('./commands/gateway-start.ts')).GatewayStartCommand,
  },
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
    path: 'webhook subscribe',
    summary: 'Make a route that needs no configuration, or change one',
    load: async () => (await import('./commands/webhook-subscribe.ts')).WebhookSubscribeCommand,
  },
  {
    path: 'webhook list',
    summary: 'List the subscriptions and what the gateway makes of each',
    load: async () => (await import('./commands/webhook-list.ts')).WebhookListCommand,
  },
  {
    path: 'webhook show',
    summary: 'Show one subscription; with --reveal its secrets too',
    load: async () => (await import('./commands/webhook-show.ts')).WebhookShowCommand,
  },
  {
    path: 'webhook remove',
    summary: 'Remove a subscription',
    load: async () => (await import('./commands/webhook-remove.ts')).WebhookRemoveCommand,
  },
  {
    path: 'webhook enable',
    summary: 'Let a subscription accept events again',
    load: async () => (await import('./commands/webhook-enable.ts')).WebhookEnableCommand,
  },
  {
    path: 'webhook disable',
    summary: 'Keep a subscription, and answer its events 403',
    load: async () => (await import('./commands/webhook-disable.ts')).WebhookDisableCommand,
  },
  {
    path: 'webhook rotate-secret',
    summary: 'Give a subscription a new secret; the old one stays valid for a while',
    load: async () => (await import('./commands/webhook-rotate-secret.ts')).WebhookRotateSecretCommand,
  },
  {
    path: 'webhook test',
    summary: 'Send a signed event to a route and print the answer',
    load: async () => (await import('./commands/webhook-test.ts')).WebhookTestCommand,
  },
  {
    path: 'source list',
    summary: 'List the senders whose webhooks can be verified',
    load: async () => (await import('./commands/source-list.ts')).SourceListCommand,
  },
  {
    path: 'source show',
    summary: 'Show how a sender signs and sends, and the steps to connect it',
    load: async () => (await import('./commands/source-show.ts')).SourceShowCommand,
  },
  {
    path: 'source detect',
    summary: 'Find out which sender a saved request is from, and why it is refused',
    load: async () => (await import('./commands/source-detect.ts')).SourceDetectCommand,
  },
  {
    path: 'source shape',
    summary: 'Show what the payloads of a sender hold: events, paths, types, values',
    load: async () => (await import('./commands/source-shape.ts')).SourceShapeCommand,
  },
  {
    path: 'source learn',
    summary: 'Infer the shape of a source of your own from requests it has sent',
    load: async () => (await import('./commands/source-learn.ts')).SourceLearnCommand,
  },
  {
    path: 'source enroll',
    summary: 'Wait for the secret a sender sends when its webhook is created',
    load: async () => (await import('./commands/source-enroll.ts')).SourceEnrollCommand,
  },
  {
    path: 'profile create',
    summary: 'Make a profile: its own credentials, targets, agent, scripts and sessions',
    load: async () => (await import('./commands/profile-create.ts')).ProfileCreateCommand,
  },
  {
    path: 'profile list',
    summary: 'List the profiles of this home and what is bound to each',
    load: async () => (await import('./commands/profile-list.ts')).ProfileListCommand,
  },
  {
    path: 'profile show',
    summary: 'Show everything a profile can reach: routes, targets, credentials, scripts',
    load: async () => (await import('./commands/profile-show.ts')).ProfileShowCommand,
  },
  {
    path: 'job create',
    summary: 'Make a scheduled job',
    load: async () => (await import('./commands/job-create.ts')).JobCreateCommand,
  },
  {
    path: 'job list',
    summary: 'List the jobs: when each runs next, and how its last run ended',
    load: async () => (await import('./commands/job-list.ts')).JobListCommand,
  },
  {
    path: 'job show',
    summary: 'Show a job: its prompt, its next five runs, its last ones, and what was missed',
    load: async () => (await import('./commands/job-show.ts')).JobShowCommand,
  },
  {
    path: 'job edit',
    summary: 'Change a job: only what the flags say',
    load: async () => (await import('./commands/job-edit.ts')).JobEditCommand,
  },
  {
    path: 'job pause',
    summary: 'Keep a job from firing; events for it are dropped',
    load: async () => (await import('./commands/job-pause.ts')).JobPauseCommand,
  },
  {
    path: 'job resume',
    summary: 'Let a paused job fire again, from now on',
    load: async () => (await import('./commands/job-resume.ts')).JobResumeCommand,
  },
  {
    path: 'job remove',
    summary: 'Remove a job; its history stays until its time is over',
    load: async () => (await import('./commands/job-remove.ts')).JobRemoveCommand,
  },
  {
    path: 'job run',
    summary: 'Run a job now, whatever its schedule says',
    load: async () => (await import('./commands/job-run.ts')).JobRunCommand,
  },
  {
    path: 'blueprint list',
    summary: 'List the blueprints: recurring tasks ready to be set up',
    load: async () => (await import('./commands/blueprint-list.ts')).BlueprintListCommand,
  },
  {
    path: 'blueprint show',
    summary: 'Show a blueprint: its fields, its command and link, its next five runs',
    load: async () => (await import('./commands/blueprint-show.ts')).BlueprintShowCommand,
  },
  {
    path: 'blueprint fill',
    summary: 'Show the job a blueprint would make with these values; nothing is created',
    load: async () => (await import('./commands/blueprint-fill.ts')).BlueprintFillCommand,
  },
  {
    path: 'blueprint command',
    summary: 'Print the chat command of a blueprint with these values',
    load: async () => (await import('./commands/blueprint-command.ts')).BlueprintCommandCommand,
  },
  {
    path: 'blueprint link',
    summary: 'Print the application link of a blueprint with these values',
    load: async () => (await import('./commands/blueprint-link.ts')).BlueprintLinkCommand,
  },
  {
    path: 'blueprint create',
    summary: 'Make the job that a blueprint describes, from values, a command or a link',
    load: async () => (await import('./commands/blueprint-create.ts')).BlueprintCreateCommand,
  },
  {
    path: 'catalog publish',
    summary: 'Print the blueprint catalog as JSON, or as a page to choose from',
    load: async () => (await import('./commands/catalog-publish.ts')).CatalogPublishCommand,
  },
  {
    path: 'deliver',
    summary: 'Send one message through a target, or show what would be sent',
    load: async () => (await import('./commands/deliver.ts')).DeliverCommand,
  },
  {
    path: 'deliveries list',
    summary: 'List what was accepted, newest first, and what became of it',
    load: async () => (await import('./commands/deliveries-list.ts')).DeliveriesListCommand,
  },
  {
    path: 'deliveries show',
    summary: 'Show one delivery: every state and attempt, and how it ended',
    load: async () => (await import('./commands/deliveries-show.ts')).DeliveriesShowCommand,
  },
  {
    path: 'deliveries replay',
    summary: 'Repeat deliveries: each becomes a new one that names the old',
    load: async () => (await import('./commands/deliveries-replay.ts')).DeliveriesReplayCommand,
  },
  {
    path: 'session open',
    summary: 'Give a chat a session, into which deliveries can be mirrored',
    load: async () => (await import('./commands/session-open.ts')).SessionOpenCommand,
  },
  {
    path: 'session list',
    summary: 'List the sessions of a profile',
    load: async () => (await import('./commands/session-list.ts')).SessionListCommand,
  },
  {
    path: 'session show',
    summary: "Show the turns of a chat's session",
    load: async () => (await import('./commands/session-show.ts')).SessionShowCommand,
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
