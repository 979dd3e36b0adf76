/** Every command, in the order `hookwright --help` shows them. A command's file is loaded only when it runs. */
import type { CommandEntry, CommandGroup } from '../command-line/command-entry.ts';
import { BLUEPRINT } from './blueprint/commands.ts';
import { CONVERT } from './convert/commands.ts';
import { DELIVERIES } from './deliveries/commands.ts';
import { GATEWAY } from './gateway/commands.ts';
import { JOB } from './job/commands.ts';
import { PROFILE } from './profile/commands.ts';
import { REQUESTS } from './requests/commands.ts';
import { SESSION } from './session/commands.ts';
import { SOURCE } from './source/commands.ts';
import { STORE } from './store/commands.ts';
import { WEBHOOK } from './webhook/commands.ts';

/** The nouns with several commands. */
export const GROUPS: readonly CommandGroup[] = [
  CONVERT,
  GATEWAY,
  WEBHOOK,
  SOURCE,
  PROFILE,
  JOB,
  BLUEPRINT,
  REQUESTS,
  DELIVERIES,
  SESSION,
  STORE,
];

export const COMMANDS: readonly CommandEntry[] = [
  {
    path: 'init',
    summary: 'Start a configuration: a template, its secrets and its tests',
    load: async () => (await import('./init.ts')).InitCommand,
  },
  ...CONVERT.commands,
  {
    path: 'compile',
    summary: 'Compile the configuration to build/routes.json and build/blueprints.json',
    load: async () => (await import('./compile.ts')).CompileCommand,
  },
  {
    path: 'lint',
    summary: 'Check the configuration: every diagnostic, nothing written',
    load: async () => (await import('./lint.ts')).LintCommand,
  },
  {
    path: 'explain',
    summary: 'Show what becomes of an event on a route, and why',
    load: async () => (await import('./explain.ts')).ExplainCommand,
  },
  {
    path: 'test',
    summary: 'Run the tests of the configuration: *.test.yaml',
    load: async () => (await import('./test.ts')).TestCommand,
  },
  {
    path: 'diff',
    summary: 'Show what changes in meaning between two configurations',
    load: async () => (await import('./diff.ts')).DiffCommand,
  },
  {
    path: 'serve',
    summary: 'Serve compiled tables; they are loaded again when they change',
    load: async () => (await import('./serve.ts')).ServeCommand,
  },
  {
    path: 'doctor',
    summary: 'Check what the gateway needs: targets, credentials, store, port, clock',
    load: async () => (await import('./doctor.ts')).DoctorCommand,
  },
  ...GATEWAY.commands,
  ...WEBHOOK.commands,
  ...SOURCE.commands,
  ...PROFILE.commands,
  ...JOB.commands,
  ...BLUEPRINT.commands,
  {
    path: 'catalog publish',
    summary: 'Print the blueprint catalog as JSON, or as a page to choose from',
    load: async () => (await import('./catalog/publish.ts')).CatalogPublishCommand,
  },
  {
    path: 'deliver',
    summary: 'Send one message through a target, or show what would be sent',
    load: async () => (await import('./deliver.ts')).DeliverCommand,
  },
  ...REQUESTS.commands,
  ...DELIVERIES.commands,
  ...SESSION.commands,
  ...STORE.commands,
  {
    path: 'schema',
    summary: 'Print the JSON Schema of one kind of file, for editors',
    load: async () => (await import('./schema.ts')).SchemaCommand,
  },
  {
    path: 'rule',
    summary: 'Explain a rule: why it is one, what breaks it, what does not',
    load: async () => (await import('./rule.ts')).RuleCommand,
  },
  {
    path: 'docs',
    summary: 'Print a page of the documentation of this version, offline',
    load: async () => (await import('./docs.ts')).DocsCommand,
  },
  {
    path: 'completion',
    summary: 'Print the completion script for bash, zsh or fish',
    load: async () => (await import('./completion.ts')).CompletionCommand,
  },
  {
    path: 'complete',
    summary: 'Print what may follow the given words, for completion scripts',
    hidden: true,
    load: async () => (await import('./complete.ts')).createCompleteCommand(COMMANDS),
  },
];
