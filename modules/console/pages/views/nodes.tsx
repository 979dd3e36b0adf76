/** The gateways that share the store, and what this one serves. */
import { bytes, shortInstant } from '../parts/format.ts';
import { useGateway } from '../parts/gateway.tsx';
import { ListView } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { Ago, Card, Facts, Note, State } from '../parts/ui.tsx';

export function Nodes({ place }: ViewProps) {
  const { config, table, runs, store } = useGateway().data ?? {};
  return (
    <>
      <ListView
        title="Nodes"
        of="listNodes"
        place={place}
        limit={0}
        empty="No nodes."
        note={({ items }) =>
          new Set(items.map(({ table: hash }) => hash)).size > 1 && (
            <Note kind="warn">The nodes serve different configurations.</Note>
          )
        }
        keyOf={({ url, started_at }) => `${url} ${started_at}`}
        columns={() => [
          ['Node', ({ url }) => <b>{url}</b>],
          ['State', ({ state }) => <State of={state} />],
          ['Version', ({ version }) => version],
          ['Configuration', ({ table: hash }) => <span class="mono">{hash?.slice(0, 12)}</span>],
          ['Problem', ({ problem }) => problem, 'clip'],
          ['Started', ({ started_at }) => <Ago at={started_at} />, 'end'],
          ['Lease expires (UTC)', ({ lease_expires_at: end }) => end !== null && shortInstant(end), 'end'],
        ]}
      />
      <Card title="This gateway">
        <Facts
          of={[
            ['Configuration', config ?? 'a compiled table'],
            ['Loaded', table && <Ago at={table.loaded_at} />],
            ['Agent runs', runs && `${runs.active} running, ${runs.queued} pending`],
            ['Store', store && bytes(store.bytes)],
          ]}
        />
      </Card>
    </>
  );
}
