/** The routes, in words. */
import type { Output } from '../api.ts';
import { useList } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { to } from '../parts/router.ts';
import { State } from '../parts/state.tsx';
import { Badge, Card, Head, Note, Show } from '../parts/ui.tsx';

type Route = Output<'listRoutes'>['items'][number];

export function Routes() {
  const list = useList('listRoutes', { limit: 200 });
  return (
    <>
      <Head title="Routes" />
      <Show of={list}>
        {(routes) => (
          <>
            {routes.length === 0 && <p class="dim">There are no routes yet.</p>}
            {routes.map((route) => (
              <One key={`${route.profile} ${route.name}`} of={route} />
            ))}
            {list.more !== null && (
              <button type="button" onClick={list.more}>
                Show more
              </button>
            )}
          </>
        )}
      </Show>
    </>
  );
}

function One({ of }: { of: Route }) {
  const { name, profile, state, reason, description, words, url, kind, paused } = of;
  return (
    <Card>
      <div class="head">
        <h2>
          {name} {profile !== 'default' && <span class="dim">({profile})</span>}
        </h2>
        <div class="bar">
          <State of={state} />
          {paused !== null && (
            <Badge kind="warn">{paused.until === null ? 'paused' : `paused until ${instant(paused.until)}`}</Badge>
          )}
          {kind === 'dynamic' && <Badge>subscription</Badge>}
        </div>
      </div>
      {description !== null && <p>{description}</p>}
      {reason !== null && <Note kind="warn">{reason}</Note>}
      {words.map((sentence) => (
        <p key={sentence} class="dim">
          {sentence}
        </p>
      ))}
      <p class="mono">{url}</p>
      <div class="bar small">
        <a href={to(['requests'], { route: name })}>Requests</a>
        <a href={to(['deliveries'], { route: name })}>Deliveries</a>
      </div>
    </Card>
  );
}
