/** The gateways that share the store, for `gateway status --all` and `doctor`. */

import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { tryAskGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, visible } from '../../../cli/output/print.ts';
import { printTable } from '../../../cli/output/table.ts';
import { formatDuration } from '../../../cli/output/time.ts';
import { useStore } from '../../../cli/store/use-store.ts';
import type { GatewayStatus } from '../../../runtime/control/operations.ts';
import type { StoredNode } from '../../../runtime/store/queries.ts';

/** A gateway whose store is not shared is the only one. @throws CliError when the store cannot be asked */
export async function listNodes(context: CliContext): Promise<readonly StoredNode[]> {
  const nodes = await useStore(context, (store) => store.read({ kind: 'nodes' }));
  if (nodes !== null && nodes.length > 0) return nodes;
  const status = await tryAskGateway(context, 'status', {});
  return status === null ? [] : [onlyNode(status, context.clock.now())];
}

const onlyNode = ({ url, version, table, started_at, store }: GatewayStatus, now: number): StoredNode => ({
  ...{ node: 1, url, version, table: table.hash, started_at, lease_expires_at: now },
  ...{ state: 'serving', problem: store.problem?.message ?? table.error, read_at: now },
});

/** Hashes of the tables in service, each once. */
export const tablesInService = (nodes: readonly StoredNode[]): readonly string[] => [
  ...new Set(nodes.flatMap(({ state, table }) => (state === 'serving' && table !== null ? [table] : []))),
];

/** Length of a hash that is enough to distinguish tables. */
const HASH_CHARS = 12;

/** Prints every gateway that shares the store; an array with `json`. Returns the exit code. */
export async function showNodes(context: CliContext, json: boolean): Promise<number> {
  const nodes = await listNodes(context);
  if (json)
    printJson(
      context,
      nodes.map(({ read_at: _, ...node }) => node),
    );
  else printNodes(context, nodes);
  return nodes.some(({ state }) => state === 'serving') ? 0 : 1;
}

function printNodes(context: CliContext, nodes: readonly StoredNode[]): void {
  printTable(context, nodes, COLUMNS, 'no gateway is running, and none has been; start one: hookwright gateway start');
  const paint = createPaint(context.colour.stdout);
  const note = (text: string): void => printLine(context, `${paint('yellow', '!')} ${visible(text)}`);
  for (const { node, problem, state } of nodes) {
    if (problem !== null && state === 'serving') note(`node ${node}: ${problem}`);
  }
  const tables = tablesInService(nodes);
  if (tables.length < 2) return;
  note('the gateways serve different tables:');
  for (const table of tables) {
    const served = nodes.filter((each) => each.state === 'serving' && each.table === table).map(({ node }) => node);
    note(`  ${table.slice(0, HASH_CHARS)} on node ${served.join(', ')}`);
  }
}

const COLUMNS = [
  { title: 'NODE', value: ({ node }: StoredNode) => node, align: 'right' as const },
  { title: 'URL', value: ({ url }: StoredNode) => url, whole: true as const },
  { title: 'STATE', value: describeState, whole: true as const },
  {
    title: 'UP',
    value: ({ state, read_at, started_at }: StoredNode) =>
      state === 'serving' ? formatDuration(read_at - started_at) : '',
  },
  { title: 'TABLE', value: ({ table }: StoredNode) => table?.slice(0, HASH_CHARS) ?? 'none', whole: true as const },
  { title: 'VERSION', value: ({ version }: StoredNode) => version },
];

function describeState({ state, lease_expires_at, read_at }: StoredNode): string {
  if (state === 'serving')
    return lease_expires_at > read_at ? `serving, lease ${formatDuration(lease_expires_at - read_at)}` : 'serving';
  return `${state} ${formatDuration(read_at - lease_expires_at)} ago`;
}
