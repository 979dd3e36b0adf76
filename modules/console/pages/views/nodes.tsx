/** The gateways that share the store. */
import { useData } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { Card, Facts, Head, Note, Show, State } from '../parts/ui.tsx';

export const Nodes = () => (
  <>
    <Head title="Nodes" />
    <Show of={useData('listNodes', {})}>
      {({ items }) => (
        <>
          {new Set(items.map(({ table }) => table)).size > 1 && (
            <Note kind="warn">The nodes serve different tables.</Note>
          )}
          {items.map(({ url, version, table, started_at, lease_expires_at, state, problem }) => (
            <Card key={`${url} ${started_at}`} title={url} aside={<State of={state} />}>
              {problem !== null && <Note kind="warn">{problem}</Note>}
              <Facts
                of={[
                  ['Version', version],
                  ['Table', table !== null && <span class="mono">{table.slice(0, 12)}</span>],
                  ['Started', instant(started_at)],
                  ['Lease expires', instant(lease_expires_at)],
                ]}
              />
            </Card>
          ))}
        </>
      )}
    </Show>
  </>
);
