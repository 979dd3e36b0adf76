/** The commands of the core and of the modules, in the order of `hookwright --help`. A command's file is loaded only when it runs. */

import type { CliContext } from '../base/context.ts';
import type { Module } from '../base/module.ts';
import type { CommandEntry, CommandGroup } from '../command-line/command-entry.ts';
import { COMMAND_FILES } from './built/command-files.ts';

/** What help shows, in order: commands, and nouns with several. Others come last, by name. */
const ORDER: readonly (string | CommandGroup)[] = [
  'init',
  { noun: 'convert', title: 'Configs of other programs', verbs: ['hermes', 'adnanh'] },
  'compile',
  'lint',
  'explain',
  'test',
  'diff',
  'serve',
  'doctor',
  {
    noun: 'gateway',
    title: 'The running server',
    verbs: ['setup', 'run', 'start', 'install-service', 'stop', 'status', 'reload', 'logs', 'metrics'],
  },
  {
    noun: 'webhook',
    title: 'Routes made while it runs, and test events',
    verbs: ['subscribe', 'list', 'show', 'remove', 'enable', 'disable', 'rotate-secret', 'test'],
  },
  {
    noun: 'source',
    title: 'Who sends webhooks, and how they sign',
    verbs: ['list', 'show', 'detect', 'shape', 'learn', 'enroll'],
  },
  { noun: 'profile', title: 'Identities of their own on one gateway', verbs: ['create', 'list', 'show'] },
  {
    noun: 'job',
    title: 'Scheduled prompts',
    verbs: ['create', 'list', 'show', 'edit', 'pause', 'resume', 'remove', 'run'],
  },
  {
    noun: 'blueprint',
    title: 'Recurring tasks ready to be set up',
    verbs: ['list', 'show', 'fill', 'command', 'link', 'create'],
  },
  'catalog',
  'deliver',
  { noun: 'requests', title: 'What came in, and why it was answered as it was', verbs: ['list', 'show', 'replay'] },
  { noun: 'deliveries', title: 'What became of each event', verbs: ['list', 'show', 'replay'] },
  { noun: 'session', title: 'Chats into which deliveries are mirrored', verbs: ['open', 'list', 'show'] },
  { noun: 'table', title: 'Tables that travel through the database', verbs: ['push', 'list', 'activate'] },
  { noun: 'store', title: 'The database that gateways share', verbs: ['migrate', 'move'] },
  'schema',
  'rule',
  'docs',
  'completion',
];

/** The nouns with several commands. */
export const GROUPS = ORDER.filter((entry) => typeof entry !== 'string');

const rankOf = (rank: number): number => (rank === -1 ? Number.POSITIVE_INFINITY : rank);

/** The position of a command: its noun among all nouns, its verb among those of the noun. */
function placeOf(path: string): readonly [noun: number, verb: number] {
  const [noun = '', verb = ''] = path.split(' ');
  const at = ORDER.findIndex((entry) => (typeof entry === 'string' ? entry : entry.noun) === noun);
  const entry = ORDER[at];
  return [rankOf(at), typeof entry === 'object' ? rankOf(entry.verbs.indexOf(verb)) : 0];
}

function inOrder(a: CommandEntry, b: CommandEntry): number {
  const [nounA, verbA] = placeOf(a.path);
  const [nounB, verbB] = placeOf(b.path);
  if (nounA !== nounB) return nounA < nounB ? -1 : 1;
  if (verbA !== verbB) return verbA < verbB ? -1 : 1;
  return a.path < b.path ? -1 : 1;
}

export const commandsOf = (modules: readonly Module<CliContext>[]): readonly CommandEntry[] =>
  [...COMMAND_FILES, ...modules.flatMap(({ commands }) => commands)].sort(inOrder);
