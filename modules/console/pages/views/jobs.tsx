/** The jobs: when each runs next, and how its last runs ended. */
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Operator, Pause } from '../parts/act.tsx';
import { instant, zone } from '../parts/format.ts';
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
    empty="There are no jobs yet."
    actions={() => <a href={to(['blueprints'])}>Make one from a blueprint</a>}
  >
    {(job, { reload }) => <One key={job.id} of={job} changed={reload} />}
  </ListView>
);

function One({ of, changed }: { of: Output<'listJobs'>['items'][number]; changed: () => void }) {
  const { id, name, profile, state, description, schedule, schedule_human, timezone, deliver, next_runs, runs } = of;
  const run = async (): Promise<string> => {
    await call('runJob', { id });
    changed();
    return `${name} runs.`;
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
          ['Id', id !== name && <span class="mono">{id}</span>],
          ['Runs', `${schedule_human} (${schedule}) in ${timezone}`],
          ['Paused until', instant(of.paused_until)],
          ['Next', next_runs[0] === undefined ? 'never' : `${instant(next_runs[0])} in ${zone()}`],
          ['Goes to', deliver.join(', ')],
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
          what="It does not fire, and events for it are dropped. What is due meanwhile is not made up for."
          pause={(time) => call('pauseJob', { id, ...time })}
          resume={() => call('resumeJob', { id })}
        />
        <a href={to(['deliveries'], { job: id })}>Deliveries</a>
      </div>
    </Card>
  );
}
