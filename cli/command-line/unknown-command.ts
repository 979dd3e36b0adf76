/** The message for words that are not a command, with the closest command if there is one. */
import { suggest } from '../../compiler/text/suggest.ts';
import type { ListedCommand } from '../base/command.ts';
import { UsageError } from '../base/errors.ts';

/** @param argv begins with words that are not a command */
export function unknownCommand(
  commands: readonly Pick<ListedCommand<never>, 'path'>[],
  argv: readonly string[],
): UsageError {
  const [first = '', second] = argv;
  if (first.startsWith('-')) {
    return new UsageError(
      `option ${first} comes before the command`,
      'write the command first: hookwright <command> [options]',
    );
  }
  const typed = second === undefined || second.startsWith('-') ? first : `${first} ${second}`;
  const paths = commands.map(({ path }) => path);
  const close = closeCommand(paths, typed, first);
  const next = close === undefined ? 'hookwright --help lists the commands' : `did you mean: hookwright ${close}`;
  return new UsageError(`unknown command "${typed}"`, next);
}

/** Words that other tools use for a command; commands of a group are also found by their last word. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  version: '--version',
  new: 'init',
  create: 'init',
  config: 'docs config',
  env: 'docs config',
  secret: 'docs config',
  secrets: 'docs config',
  validate: 'lint',
  check: 'lint',
  build: 'compile',
  format: 'lint --fix',
  fmt: 'lint --fix',
  run: 'gateway run',
  ps: 'gateway status',
  dev: 'gateway run',
  watch: 'gateway run',
  listen: 'gateway run',
  up: 'gateway start',
  down: 'gateway stop',
  setup: 'gateway setup',
  start: 'gateway start',
  restart: 'gateway reload',
  stop: 'gateway stop',
  status: 'gateway status',
  reload: 'gateway reload',
  logs: 'gateway logs',
  log: 'gateway logs',
  install: 'gateway install-service',
  service: 'gateway install-service',
  upgrade: 'docs deployment',
  update: 'docs deployment',
  metrics: 'gateway metrics',
  routes: 'webhook list --all',
  route: 'webhook list --all',
  targets: 'docs targets',
  target: 'docs targets',
  platforms: 'docs targets',
  agent: 'docs agents',
  agents: 'docs agents',
  cron: 'job list',
  schedule: 'job list',
  events: 'requests list',
  history: 'requests list',
  subscribe: 'webhook subscribe',
  test: 'webhook test',
  replay: 'deliveries replay',
  send: 'deliver',
};

/** The intended command; for the name of a group, the command that lists it. */
function closeCommand(paths: readonly string[], typed: string, first: string): string | undefined {
  const noun = typed.replace(/ (?:list|ls)$/, '');
  if (Object.hasOwn(OTHER_WORDS, noun)) return OTHER_WORDS[noun];
  const groups = [...new Set(paths.flatMap((path) => (path.includes(' ') ? [path.split(' ')[0] ?? ''] : [])))];
  const group = groups.find((name) => name === first.replace(/s$/, '') || name === `${first}s`);
  const rest = typed === first ? '' : typed.slice(first.length);
  const renamed = group === undefined ? typed : `${group}${rest}`;
  if (group !== undefined && rest === '' && paths.includes(`${group} list`)) return `${group} list`;
  return paths.includes(renamed) ? renamed : suggest(renamed, [...paths, ...groups])[0];
}
