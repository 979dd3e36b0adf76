/** The jobs: when each runs next, and how its last runs ended. */
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { useList } from '../parts/data.ts';
import { instant, zone } from '../parts/format.ts';
import { Pause } from '../parts/pause.tsx';
import { Operator } from '../parts/role.tsx';
import { to } from '../parts/router.ts';
import { State } from '../parts/state.tsx';
import { Act, Ago, Card, Cards, Facts, Head } from '../parts/ui.tsx';

type Job = Output<'listJobs'>['items'][number];

export function Jobs() {
  const list = useList('listJobs', { limit: 100 });
  return (
    <>
      <Head title="Jobs">
        <a href={to(['blueprints'])}>Make one from a blueprint</a>
      </Head>
      <Cards of={list} empty="There are no jobs yet.">
        {(job) => <One key={job.id} of={job} changed={list.reload} />}
      </Cards>
    </>
  );
}

function One({ of, changed }: { of: Job; changed: () => void }) {
  const { id, name, profile, state, description, schedule, schedule_human, timezone, deliver, next_runs, runs } = of;
  const [next] = next_runs;
  const run = async (): Promise<string> => {
    await call('runJob', { id });
    changed();
    return `${name} runs.`;
  };
  return (
    <Card>
      <div class="head">
        <h2>
          {name} <span class="dim small mono">{id === name ? '' : id}</span>
        </h2>
        <State of={state} />
      </div>
      {description !== null && <p>{description}</p>}
      <Facts
        of={[
          ['Runs', `${schedule_human} (${schedule}) in ${timezone}`],
          ['Paused until', of.paused_until === null ? null : instant(Date.parse(of.paused_until))],
          ['Next', next === undefined ? 'never' : `${instant(Date.parse(next))} in ${zone()}`],
          ['Goes to', deliver.join(', ')],
          ['Profile', profile === 'default' ? null : profile],
          [
            'Last runs',
            runs.length === 0 ? null : (
              <ul class="list">
                {runs.slice(0, 3).map((run) => (
                  <li key={run.id}>
                    <a href={to(['deliveries', run.id])}>
                      {run.state}, <Ago at={Date.parse(run.started_at)} />
                    </a>
                  </li>
                ))}
              </ul>
            ),
          ],
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
          what="It does not fire, and events for it are dropped. What is due meanwhile is not made up for."
          isPaused={of.paused}
          pause={(seconds) => call('pauseJob', { id, ...(seconds === null ? {} : { seconds }) })}
          resume={() => call('resumeJob', { id })}
          changed={changed}
        />
        <a href={to(['deliveries'], { job: id })}>Deliveries</a>
      </div>
    </Card>
  );
}
