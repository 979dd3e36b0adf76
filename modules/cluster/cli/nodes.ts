/** The gateways that share the store, for `gateway status --all` and `doctor`. */

import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { tryAskGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printLine, visible } from '../../../cli/output/print.ts';
import type { Column } from '../../../cli/output/table.ts';
import { printList } from '../../../cli/output/table.ts';
import { formatDuration } from '../../../cli/output/time.ts';
import { useStore } from '../../../cli/store/use-store.ts';
import type { StoredNode } from '../../../runtime/store/queries.ts';
import type { GatewayStatus } from '../../../schemas/built/operations/types.ts';

/** A gateway whose store is not shared is the only one. @throws CliError when the store cannot be asked */
export async function listNodes(context: CliContext): Promise<readonly StoredNode[]> {
  const nodes = await useStore(context, (store) => store.read({ kind: 'nodes' }));
  if (nodes !== null && nodes.length > 0) return nodes;
  const status = await tryAskGateway(context, 'status', {});
  return status === null ? [] : [onlyNode(status, context.clock.now())];
}

const onlyNode = ({ url, version, table, started_at, store }: GatewayStatus, now: number): StoredNode => ({
  node: 1,
  url,
  version,
  table: table.hash,
  started_at,
  lease_expires_at: now,
  state: 'serving',
  problem: store.problem?.message ?? table.error,
  read_at: now,
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
  const empty = 'no gateway is running, and none has been; start one: hookwright gateway start';
  printList(context, nodes, { json, toJson: ({ read_at: _, ...node }) => node, columns: COLUMNS, empty });
  if (!json) noteProblems(context, nodes);
  return nodes.some(({ state }) => state === 'serving') ? 0 : 1;
}

function noteProblems(context: CliContext, nodes: readonly StoredNode[]): void {
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

const COLUMNS: readonly Column<StoredNode>[] = [
  { title: 'NODE', value: ({ node }) => node, align: 'right' },
  { title: 'URL', value: ({ url }) => url, whole: true },
  { title: 'STATE', value: describeState, whole: true },
  { title: 'UP', value: (node) => (node.state === 'serving' ? formatDuration(node.read_at - node.started_at) : '') },
  { title: 'TABLE', value: ({ table }) => table?.slice(0, HASH_CHARS) ?? 'none', whole: true },
  { title: 'VERSION', value: ({ version }) => version },
];

function describeState({ state, lease_expires_at, read_at }: StoredNode): string {
  if (state === 'serving')
    return lease_expires_at > read_at ? `serving, lease ${formatDuration(lease_expires_at - read_at)}` : 'serving';
  return `${state} ${formatDuration(read_at - lease_expires_at)} ago`;
}
