/** Kept requests: filtered, live. */
import { CHOICES } from '../../runtime/api/built/operations.ts';
import { useList } from '../parts/data.ts';
import type { ViewPlace } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { OutcomeBadge } from '../parts/state.tsx';
import { Ago, Card, Head, Rows, Sampled, Select, Show, TextField } from '../parts/ui.tsx';

export function Requests({ place: { query } }: { place: ViewPlace }) {
  const [route, grep] = ['route', 'grep'].map((name) => query.get(name) ?? '');
  const outcome = CHOICES.outcome.find((each) => each === query.get('outcome'));
  const set = (name: string, value: string): void => {
    location.hash = to(['requests'], { ...Object.fromEntries(query), [name]: value });
  };
  const given = { ...(route ? { route } : {}), ...(outcome ? { outcome } : {}), ...(grep ? { grep } : {}) };
  const list = useList('listRequests', { limit: 50, ...given }, !grep);
  return (
    <>
      <Head title="Requests" />
      <div class="filters">
        <TextField label="Route" value={route ?? ''} change={(value) => set('route', value)} />
        <Select
          label="Outcome"
          value={outcome ?? ''}
          options={['', ...CHOICES.outcome].map((name) => [name, name === '' ? 'all' : name.replaceAll('_', ' ')])}
          change={(value) => set('outcome', value)}
        />
        <TextField label="Text in it" value={grep ?? ''} change={(value) => set('grep', value)} />
      </div>
      <Card>
        <Sampled of={list} />
        <Show of={list}>
          {(items) => (
            <Rows of={items} more={list.more} empty="No request is kept that fits.">
              {({ id, at, route: name, event, outcome: answer, reason, delivery_id }) => (
                <li key={id}>
                  <a class="row" href={to(['requests', id])}>
                    <span class="main">
                      <b>{name}</b> {event === 'unknown' ? '' : event}
                    </span>
                    <OutcomeBadge outcome={answer} reason={reason} />
                    <span class="dim small mono wide">{delivery_id.slice(0, 40)}</span>
                    <span class="dim small end">
                      <Ago at={at} />
                    </span>
                  </a>
                </li>
              )}
            </Rows>
          )}
        </Show>
      </Card>
    </>
  );
}
