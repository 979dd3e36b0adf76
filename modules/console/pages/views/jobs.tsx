/** Jobs: a table with the next run of each; or one job with its next and last runs. */
import type { ComponentChildren } from 'preact';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Ask, Operator, Pause } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { ListView } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Card, Facts, Head, Show, State, Whole } from '../parts/ui.tsx';

type Job = Output<'listJobs'>['items'][number];

export const Jobs = ({ place }: ViewProps) => (
  <ListView
    title="Jobs"
    of="listJobs"
    place={place}
    empty="No jobs yet."
    actions={() => <a href={to(['blueprints'])}>Create a job from a blueprint</a>}
    keyOf={({ id }) => id}
    columns={({ reload }) => [
      ['Job', ({ id, name }) => <Whole path={['jobs', id]}>{name}</Whole>],
      ['State', ({ state }) => <State of={state} />],
      ['Schedule', ({ schedule_human, timezone }) => `${schedule_human} (${timezone})`, 'clip'],
      ['Next run', ({ next_runs: [next] }) => (next === undefined ? 'never' : instant(next))],
      ['Last run', ({ runs: [last] }) => last !== undefined && <Run of={last} />],
      ['', (job) => <Actions of={job} changed={reload} />, 'end'],
    ]}
  />
);

const Run = ({ of: { id, state, started_at } }: { of: Job['runs'][number] }) => (
  <a href={to(['deliveries', id])}>
    {state}, <Ago at={Date.parse(started_at)} />
  </a>
);

function Actions({ of: { id, name, paused }, changed }: { of: Job; changed: () => void }) {
  const run = async (): Promise<string> => {
    await call('runJob', { id });
    changed();
    return `${name} started.`;
  };
  return (
    <span class="bar">
      <Operator>
        <Act act={run} label={`Run now: ${name}`}>
          Run now
        </Act>
      </Operator>
      <Pause
        name={name}
        changed={changed}
        isPaused={paused}
        what="The job does not run while it is paused: events for it are dropped, and missed runs are not repeated."
        pause={(time) => call('pauseJob', { id, ...time })}
        resume={() => call('resumeJob', { id })}
      />
    </span>
  );
}

/** One job by id. */
export function JobView({ id }: ViewProps) {
  const loaded = useData('listJobs', { limit: 200 });
  const job = loaded.data?.items.find((each) => each.id === id);
  return (
    <>
      <Head title={job === undefined ? `Job ${id}` : job.name} of="Jobs">
        {job !== undefined && <Actions of={job} changed={loaded.reload} />}
        {job?.kind === 'dynamic' && <Remove of={job} />}
      </Head>
      <Show of={loaded}>{() => (job === undefined ? <p>Job {id} does not exist.</p> : <One of={job} />)}</Show>
    </>
  );
}

function Remove({ of: { id, name } }: { of: Job }) {
  const remove = async (): Promise<string> => {
    await call('removeJob', { id });
    location.hash = to(['jobs']);
    return `Job ${name} removed.`;
  };
  return (
    <Operator>
      <Ask text="Remove" label={`Remove ${name}`} title={`Remove job ${name}`} choices={{ Remove: remove }}>
        <p>The job never runs again. Its deliveries stay until retention deletes them.</p>
      </Ask>
    </Operator>
  );
}

const lines = (of: readonly ComponentChildren[]) => of.map((each, at) => <div key={at}>{each}</div>);

const One = ({ of }: { of: Job }) => (
  <Card>
    {of.description !== null && <p>{of.description}</p>}
    <Facts
      of={[
        ['ID', <span class="mono">{of.id}</span>],
        ['State', <State of={of.state} />],
        ['Schedule', `${of.schedule_human} (${of.schedule}) in ${of.timezone}`],
        ['Paused until', instant(of.paused_until)],
        ['Next runs', of.next_runs.length === 0 ? 'never' : lines(of.next_runs.slice(0, 3).map((at) => instant(at)))],
        ['Targets', of.deliver.join(', ')],
        ['Profile', of.profile !== 'default' && of.profile],
        ['Last runs', of.runs.length > 0 && lines(of.runs.map((each) => <Run of={each} />))],
      ]}
    />
    <div class="bar">
      <a href={to(['deliveries'], { job: of.id })}>Deliveries</a>
    </div>
  </Card>
);
