/** Jobs: the next run of each, and how its last runs ended. */
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Operator, Pause } from '../parts/act.tsx';
import { instant } from '../parts/format.ts';
import { ListView } from '../parts/list.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Ago, Card, Facts, State } from '../parts/ui.tsx';

export const Jobs = ({ place }: ViewProps) => (
  <ListView
    title="Jobs"
    of="listJobs"
    place={place}
    cards
    empty="No jobs yet."
    actions={() => <a href={to(['blueprints'])}>Create a job from a blueprint</a>}
  >
    {(job, { reload }) => <One key={job.id} of={job} changed={reload} />}
  </ListView>
);

function One({ of, changed }: { of: Output<'listJobs'>['items'][number]; changed: () => void }) {
  const { id, name, profile, state, description, schedule, schedule_human, timezone, deliver, next_runs, runs } = of;
  const run = async (): Promise<string> => {
    await call('runJob', { id });
    changed();
    return `${name} started.`;
  };
  const last = runs.slice(0, 3).map((each) => (
    <div key={each.id}>
      <a href={to(['deliveries', each.id])}>
        {each.state}, <Ago at={Date.parse(each.started_at)} />
      </a>
    </div>
  ));
  return (
    <Card title={name} aside={<State of={state} />}>
      {description !== null && <p>{description}</p>}
      <Facts
        of={[
          ['ID', id !== name && <span class="mono">{id}</span>],
          ['Schedule', `${schedule_human} (${schedule}) in ${timezone}`],
          ['Paused until', instant(of.paused_until)],
          ['Next run', next_runs[0] === undefined ? 'never' : instant(next_runs[0])],
          ['Targets', deliver.join(', ')],
          ['Profile', profile !== 'default' && profile],
          ['Last runs', last.length > 0 && last],
        ]}
      />
      <div class="bar">
        <Operator>
          <Act act={run} label={`Run now: ${name}`}>
            Run now
          </Act>
        </Operator>
        <Pause
          name={name}
          changed={changed}
          isPaused={of.paused}
          what="The job does not run while it is paused: events for it are dropped, and missed runs are not repeated."
          pause={(time) => call('pauseJob', { id, ...time })}
          resume={() => call('resumeJob', { id })}
        />
        <a href={to(['deliveries'], { job: id })}>Deliveries</a>
      </div>
    </Card>
  );
}
