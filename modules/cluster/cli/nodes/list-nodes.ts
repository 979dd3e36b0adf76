/** The gateways that share the store of this home, for `gateway status --all`. */

import type { CliContext } from '../../../../cli/base/context.ts';
import { tryAskGateway } from '../../../../cli/gateway/ask-gateway.ts';
import { useStore } from '../../../../cli/store/use-store.ts';
import type { GatewayStatus } from '../../../../runtime/control/operations.ts';
import type { StoredNode } from '../../../../runtime/store/queries.ts';

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
