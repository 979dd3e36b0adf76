/** Converts a hooks file of adnanh/webhook: each hook becomes a route, whose agent is a script that runs the hook's command. */
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import type { SourceText } from '../../../../compiler/text/source-text.ts';
import type { Conversion, ConversionRefusal, Tools } from '../conversion.ts';
import { parseForeign, refuseText } from '../conversion.ts';
import type { Draft, Settings } from '../draft.ts';
import { addRoute, createDraft, settle, webhookOf } from '../draft.ts';
import { asMap } from '../foreign-value.ts';
import type { HookCommand } from './convert-hook.ts';
import { convertHook } from './convert-hook.ts';
import { plainCalls } from './go-template.ts';
import { textOf } from './hook-value.ts';

/** @param runner source of the script that runs the commands */
export function convertAdnanh(
  source: SourceText,
  runner: string,
  { check, newSecret }: Tools,
): Conversion | ConversionRefusal {
  const plain = plainCalls(source);
  if ('faults' in plain) return plain;
  const file = parseForeign(plain);
  if ('faults' in file) return file;
  if (!Array.isArray(file.value) || !file.value.every(isPlainMap))
    return refuseText(
      'a hooks file is a list of hooks, each with `id` and `execute-command`',
      'to convert a config of Hermes Agent: hookwright convert hermes',
    );
  if (file.value.length === 0) return refuseText('the file has no hooks');
  const draft = createDraft('adnanh/webhook', file, newSecret);
  const commands = convert(draft, file.value);
  if (draft.routes.length === 0) return refuseText('none of its hooks has both `id` and `execute-command`');
  const programs = new Map([
    ['scripts/hook-values.sh', VALUES_SCRIPT],
    ['hooks/run-hook.mjs', runner],
    ['hooks/hooks.json', `${JSON.stringify(commands, null, 2)}\n`],
  ]);
  return settle(draft, check, { programs, notes: NOTES });
}

/** Run by Bash, so that `node` is looked up in PATH. */
const VALUES_SCRIPT = `# Prints the values for the command of a hook, from the payload on stdin; see hooks/run-hook.mjs.
exec node ../hooks/run-hook.mjs values
`;

const NOTES: readonly string[] = [
  'Senders must POST to /webhooks/<route> on port 8644, not to /hooks/<id> on port 9000.',
  'An event is answered once it is stored, with 202 and JSON unless `respond` sets a response, and its command runs afterwards, with a time limit of an hour. A command that a crash interrupted runs again.',
  'It is unknown how commands use values of the payload: a script that evaluates them (`eval`, `sh -c "$1"`, an unquoted variable, a value that begins with `-`) lets a sender run code. Read each script, then state its limits in `agent.confined`.',
  'Commands get PATH, HOME and similar variables, not all variables of the server: list others under `agent.env`.',
];

function convert(draft: Draft, hooks: readonly unknown[]): Readonly<Record<string, HookCommand>> {
  // The original has no rate limit.
  Object.assign(webhookOf(draft), { rate_limit: 600 });
  const commands: Record<string, HookCommand> = {};
  const ids = new Set<string>();
  for (const [at, value] of hooks.entries()) {
    const hook = asMap(value);
    const id = textOf(hook, 'id') ?? '';
    const path: NodePath = [at];
    if (id === '' || (textOf(hook, 'execute-command') ?? '') === '') {
      draft.report.lost(path, 'a hook needs `id` and `execute-command`', 'Give it both');
      continue;
    }
    if (ids.has(id)) {
      draft.report.lost(path, 'an earlier hook has this id', 'Give it another id');
      continue;
    }
    ids.add(id);
    const route = addRoute(draft, 'hook', id, path);
    commands[route.name] = convertHook(draft, route, hook);
  }
  setAgent(draft.config);
  return commands;
}

function setAgent(config: Settings): void {
  config.platform_toolsets = { webhook: [] };
  config.agent = {
    command: ['node', 'run-hook.mjs', 'run'],
    cwd: 'hooks',
    timeout_seconds: 3600,
  };
}
