/** The gateways that share the store. */
import { useData } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { State } from '../parts/state.tsx';
import { Card, Facts, Head, Note, Show } from '../parts/ui.tsx';

export function Nodes() {
  const found = useData('listNodes', {});
  return (
    <>
      <Head title="Nodes" />
      <Show of={found}>
        {({ items }) => (
          <>
            {new Set(items.map(({ table }) => table)).size > 1 && (
              <Note kind="warn">The nodes do not serve the same table.</Note>
            )}
            {items.map(({ url, version, table, started_at, lease_expires_at, state, problem }) => (
              <Card key={`${url} ${started_at}`}>
                <div class="head">
                  <h2>{url}</h2>
                  <State of={state} />
                </div>
                {problem !== null && <Note kind="warn">{problem}</Note>}
                <Facts
                  of={[
                    ['Version', version],
                    ['Table', table === null ? null : <span class="mono">{table.slice(0, 12)}</span>],
                    ['Started', instant(started_at)],
                    ['Lease until', lease_expires_at === null ? null : instant(lease_expires_at)],
                  ]}
                />
              </Card>
            ))}
          </>
        )}
      </Show>
    </>
  );
}
