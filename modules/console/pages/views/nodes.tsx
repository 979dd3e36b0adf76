/** The gateways that share the store. */
import { useData } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { Head, Note, Show, State, Table } from '../parts/ui.tsx';

export const Nodes = () => (
  <>
    <Head title="Nodes" />
    <Show of={useData('listNodes', {})}>
      {({ items }) => (
        <>
          {new Set(items.map(({ table }) => table)).size > 1 && (
            <Note kind="warn">The nodes serve different configurations.</Note>
          )}
          <Table
            label="Nodes"
            items={items}
            empty="No nodes."
            keyOf={({ url, started_at }) => `${url} ${started_at}`}
            columns={[
              ['Node', ({ url }) => <b>{url}</b>],
              ['State', ({ state }) => <State of={state} />],
              ['Version', ({ version }) => version],
              ['Configuration', ({ table }) => <span class="mono">{table?.slice(0, 12)}</span>],
              ['Problem', ({ problem }) => problem, 'clip'],
              ['Started', ({ started_at }) => instant(started_at), 'end'],
              ['Lease expires', ({ lease_expires_at }) => instant(lease_expires_at), 'end'],
            ]}
          />
        </>
      )}
    </Show>
  </>
);
