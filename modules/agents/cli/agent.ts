/** `hookwright agent list` and `show`: the programs that `use` knows. */
import type { CliContext } from '../../../cli/base/context.ts';
import { findName } from '../../../cli/base/errors.ts';
import { argument, command } from '../../../cli/command-line/command.ts';
import { jsonOption } from '../../../cli/command-line/options.ts';
import { printBeside, printJson, printLine, printNote, visible } from '../../../cli/output/print.ts';
import type { Column } from '../../../cli/output/table.ts';
import { printList } from '../../../cli/output/table.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import type { AgentFile } from '../../../schemas/generated/types.ts';
import type { KnownAgent } from '../compiler/load-agents.ts';
import { loadAgents } from '../compiler/load-agents.ts';

type Named = readonly [name: string, agent: KnownAgent];

/** Invalid files of the home are left out and named. */
async function openAgents(context: CliContext): Promise<readonly Named[]> {
  const { cwd, home } = context;
  const { agents, findings } = loadAgents({ cwd, home, files: nodeFiles, catalog: await context.catalog() });
  for (const path of new Set(findings.map(({ source }) => source.path)))
    printNote(context, `skipping ${path}, which is invalid; to see why: hookwright lint`);
  return [...agents];
}

export const agentListCommand = command({
  options: { json: jsonOption },
  async run(context, { json }) {
    printList(context, await openAgents(context), {
      json,
      toJson: ([name, { file, path }]) => ({ name, ...file, path }),
      columns: COLUMNS,
      empty: 'no agents',
    });
  },
});

const COLUMNS: readonly Column<Named>[] = [
  { title: 'AGENT', value: ([name]) => name, whole: true },
  { title: 'PROGRAM', value: ([, { file }]) => file.title, wrap: true },
  { title: 'VERSIONS', value: ([, { file }]) => versionsOf(file) },
  { title: 'NEEDS', value: ([, { file }]) => (file.needs ?? []).join(', ') || '-' },
  { title: 'TOOLSETS', value: ([, { file }]) => Object.keys(file.toolsets?.names ?? {}).join(', ') || '-', wrap: true },
];

const versionsOf = ({ versions }: AgentFile): string =>
  versions === undefined ? '-' : `${versions.from} to below ${versions.below}`;

export const agentShowCommand = command({
  options: { json: jsonOption },
  args: { name: argument('agent') },
  async run(context, given) {
    const known = (await openAgents(context)).map((entry) => [entry[0], entry] as const);
    const [name, { file, path }] = findName({
      kind: 'agent',
      name: given.name,
      known,
      listedBy: 'hookwright agent list',
    });
    if (given.json) return printJson(context, { name, ...file, path });
    printLine(context, `${visible(file.title)} (${name})`);
    for (const [label, value] of describe(file, path)) printBeside(context, `${label}:`.padEnd(10), visible(value));
    printLine(context);
    for (const line of exampleOf(name, file)) printLine(context, line);
  },
});

function describe(file: AgentFile, path: string | null): readonly (readonly [label: string, value: string])[] {
  const { package: packageName, output, conversation, key, base_url: url, toolsets, sandbox = {} } = file;
  const { usage = {} } = output;
  const reported = [...(usage.input === undefined ? [] : ['tokens']), ...(usage.cost === undefined ? [] : ['cost'])];
  const tools = Object.entries(toolsets?.names ?? {}).map(([toolset, names]) => `${toolset}: ${names.join(' ')}`);
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['File', path ?? undefined],
    ['Docs', file.docs],
    ['Install', packageName === undefined ? undefined : `npm install --global ${packageName}`],
    ['Versions', versionsOf(file)],
    [
      'Command',
      file.command.map((part) => (typeof part === 'string' ? part || "''" : `[${part.join(' ')}]`)).join(' '),
    ],
    ['Key', key],
    ['Model', url],
    ['Toolsets', tools.length === 0 ? 'none' : tools.join('; ')],
    ['Usage', reported.length === 0 ? 'not reported' : reported.join(', ')],
    ['Sessions', conversation === undefined ? 'none' : 'one conversation for each session key'],
    [
      'Sandbox',
      [...(sandbox.network ?? []), ...(sandbox.read ?? []), ...(sandbox.write ?? [])].join(', ') || undefined,
    ],
  ];
  return rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const]));
}

function exampleOf(name: string, { needs = [], key }: AgentFile): readonly string[] {
  const values = { key: `env:${key ?? 'MODEL_KEY'}`, model: '<model>', base_url: 'https://<host>/v1' };
  return ['agent:', `  use: ${name}`, ...needs.map((need) => `  ${need}: ${values[need]}`)];
}
