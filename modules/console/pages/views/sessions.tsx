/** Which session is busy and what waits in it; and what runs have used. */
import type { Output } from '../api.ts';
import { useList } from '../parts/data.ts';
import { count } from '../parts/format.ts';
import type { ViewPlace } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Badge, Card, Head, Rows, Show, TextField } from '../parts/ui.tsx';
import { Usage } from './usage.tsx';

type Session = Output<'listSessions'>['items'][number];

export function Sessions({ place: { query } }: { place: ViewPlace }) {
  const profile = query.get('profile') ?? '';
  const list = useList('listSessions', { limit: 100, ...(profile === '' ? {} : { profile }) });
  return (
    <>
      <Head title="Sessions" />
      <div class="filters">
        <TextField
          label="Profile"
          value={profile}
          change={(value) => {
            location.hash = to(['sessions'], { profile: value });
          }}
        />
      </div>
      <Card title="Busy, or with something that waits">
        <Show of={list}>
          {(items) => (
            <Rows of={items} more={list.more} empty="No session is busy, and nothing waits for its turn.">
              {(one) => <One key={`${one.kind} ${one.target} ${one.profile} ${one.id}`} of={one} />}
            </Rows>
          )}
        </Show>
      </Card>
      <Usage />
    </>
  );
}

function One({ of: { kind, id, profile, target, turns, changed_at, problem, waiting, run } }: { of: Session }) {
  return (
    <li>
      <div class="row">
        <span class="main">
          <b>{target === null ? id : `${target} ${id}`}</b>
          {profile !== 'default' && <span class="dim small"> {profile}</span>}
          {run !== null && (
            <>
              {' '}
              <a href={to(['deliveries', run.id])}>
                {run.state}: {run.route ?? run.job} {run.event}
              </a>
            </>
          )}
          {problem !== null && <span class="no"> {problem}</span>}
        </span>
        {kind === 'agent' ? (
          <Badge kind={run?.state === 'running' ? 'warn' : 'calm'}>{run?.state === 'running' ? 'busy' : 'idle'}</Badge>
        ) : (
          <Badge>chat</Badge>
        )}
        {waiting > 0 && <Badge kind="warn">{count(waiting, 'run')} waiting</Badge>}
        {turns !== null && <span class="dim small">{count(turns, 'message')}</span>}
        <span class="dim small end">
          {run !== null && <Ago at={run.started_at ?? run.accepted_at} />}
          {changed_at !== null && <Ago at={Date.parse(changed_at)} />}
        </span>
      </div>
    </li>
  );
}
