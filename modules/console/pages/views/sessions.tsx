/** Sessions: which are busy, and their pending runs; and the usage of the last week. */
import type { Output } from '../api.ts';
import { useList } from '../parts/data.ts';
import { count, known } from '../parts/format.ts';
import { ListView } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Badge, Card, Entries, Row, Show } from '../parts/ui.tsx';

export const Sessions = ({ place }: ViewProps) => (
  <>
    <ListView
      title="Sessions"
      of="listSessions"
      place={place}
      limit={100}
      filters={{ profile: { label: 'Profile' } }}
      empty="No active sessions and no waiting runs."
    >
      {(one) => <One key={`${one.kind} ${one.target} ${one.profile} ${one.id}`} of={one} />}
    </ListView>
    <Usage />
  </>
);

function One({ of }: { of: Output<'listSessions'>['items'][number] }) {
  const { kind, id, profile, target, turns, changed_at, problem, waiting, run } = of;
  const isBusy = run?.state === 'running';
  const at = run === null ? Date.parse(changed_at ?? '') : (run.started_at ?? run.accepted_at);
  const about = (
    <>
      {profile !== 'default' && <span class="dim small">{profile} </span>}
      {run !== null && (
        <a href={to(['deliveries', run.id])}>
          {run.state}: {run.route ?? run.job} {known(run.event)}
        </a>
      )}
      {problem !== null && <span class="bad"> {problem}</span>}
    </>
  );
  return (
    <Row name={target === null ? id : `${target} ${id}`} about={about} end={at > 0 && <Ago at={at} />}>
      {kind === 'agent' ? (
        <Badge kind={isBusy ? 'warn' : 'calm'}>{isBusy ? 'busy' : 'idle'}</Badge>
      ) : (
        <Badge>chat</Badge>
      )}
      {waiting > 0 && <Badge kind="warn">{count(waiting, 'run')} waiting</Badge>}
      {turns !== null && <span class="dim small">{count(turns, 'message')}</span>}
    </Row>
  );
}

const HOUR_MS = 3_600_000;

/** Usage by day, route, job and agent. */
function Usage() {
  const since = Math.floor(Date.now() / HOUR_MS - 7 * 24) * HOUR_MS;
  const list = useList('listUsage', { limit: 200, since, span: 'day' }, false);
  return (
    <Card title="Usage in the last week">
      <Show of={list}>
        {() => (
          <Entries empty="No run reported its usage." more={list.more}>
            {list.items.map(({ slot, profile, route, job, agent, runs, input_tokens, output_tokens, cost }) => (
              <Row
                key={`${slot} ${profile} ${route} ${job} ${agent}`}
                name={route ?? job}
                about={agent}
                end={new Date(slot).toISOString().slice(0, 10)}
              >
                <span>{count(runs, 'run')}</span>
                <span>{(input_tokens ?? 0).toLocaleString()} tokens in</span>
                <span>{(output_tokens ?? 0).toLocaleString()} out</span>
                {cost !== null && <span>cost {Number(cost.toPrecision(4))}</span>}
              </Row>
            ))}
          </Entries>
        )}
      </Show>
    </Card>
  );
}
