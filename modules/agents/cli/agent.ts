/** `hookwright agent list` and `show`: the programs that `use` knows. */
import { stringify } from 'yaml';
import type { CliContext } from '../../../cli/base/context.ts';
import { findName } from '../../../cli/base/errors.ts';
import { argument, command } from '../../../cli/command-line/command.ts';
import { jsonOption } from '../../../cli/command-line/options.ts';
import { printJson, printLine, printNote, visible } from '../../../cli/output/print.ts';
import type { Column } from '../../../cli/output/table.ts';
import { printList } from '../../../cli/output/table.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import type { AgentFile } from '../../../schemas/generated/types.ts';
import { loadAgents } from '../compiler/load-agents.ts';

type Named = readonly [name: string, file: AgentFile];

/** Invalid files of the home are left out and named. */
async function openAgents(context: CliContext): Promise<readonly Named[]> {
  const { cwd, home } = context;
  const { agents, findings } = loadAgents({ cwd, home, files: nodeFiles, catalog: await context.catalog() });
  for (const path of new Set(findings.map(({ source }) => source.path)))
    printNote(context, `skipping ${visible(path)}, which is invalid; to see why: hookwright lint`);
  return [...agents];
}

export const agentListCommand = command({
  options: { json: jsonOption },
  async run(context, { json }) {
    const toJson = ([name, file]: Named): unknown => ({ name, ...file });
    printList(context, await openAgents(context), { json, toJson, columns: COLUMNS, empty: 'no agents' });
  },
});

const COLUMNS: readonly Column<Named>[] = [
  { title: 'AGENT', value: ([name]) => name, whole: true },
  { title: 'PROGRAM', value: ([, { title }]) => title, wrap: true },
  { title: 'VERSIONS', value: ([, { versions: v }]) => (v === undefined ? '-' : `${v.from} to below ${v.below}`) },
  { title: 'NEEDS', value: ([, { needs = [] }]) => needs.join(', ') || '-' },
  { title: 'TOOLSETS', value: ([, { toolsets }]) => Object.keys(toolsets?.names ?? {}).join(', ') || '-', wrap: true },
];

export const agentShowCommand = command({
  options: { json: jsonOption },
  args: { name: argument('agent') },
  async run(context, { name: wanted, json }) {
    const known = (await openAgents(context)).map((entry) => [entry[0], entry] as const);
    const [name, file] = findName({ kind: 'agent', name: wanted, known, listedBy: 'hookwright agent list' });
    if (json) return printJson(context, { name, ...file });
    const { key = 'MODEL_KEY', needs = [] } = file;
    const values = { key: `env:${key}`, model: '<model>', base_url: 'https://<host>/v1' };
    const settings = ['agent:', `  use: ${name}`, ...needs.map((need) => `  ${need}: ${values[need]}`)];
    for (const line of settings) printLine(context, `# ${visible(line)}`);
    for (const line of stringify(file, { lineWidth: 100 }).trimEnd().split('\n')) printLine(context, visible(line));
  },
});
