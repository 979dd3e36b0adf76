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
            <Note kind="warn">The nodes serve different tables.</Note>
          )}
          <Table
            label="Nodes"
            items={items}
            empty="No nodes."
            keyOf={({ url, started_at }) => `${url} ${started_at}`}
            columns={[
              { title: 'Node', cell: ({ url }) => <b>{url}</b> },
              { title: 'State', cell: ({ state }) => <State of={state} /> },
              { title: 'Version', cell: ({ version }) => version },
              { title: 'Table', cell: ({ table }) => <span class="mono">{table?.slice(0, 12)}</span> },
              { title: 'Problem', look: 'clip', cell: ({ problem }) => problem },
              { title: 'Started', look: 'end', cell: ({ started_at }) => instant(started_at) },
              { title: 'Lease expires', look: 'end', cell: ({ lease_expires_at }) => instant(lease_expires_at) },
            ]}
          />
        </>
      )}
    </Show>
  </>
);
