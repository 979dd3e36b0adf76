/** The jobs: when each runs next, and how its last runs ended. */
import type { Output } from '../api.ts';
import { useList } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { to } from '../parts/router.ts';
import { State } from '../parts/state.tsx';
import { Ago, Card, Facts, Head, Show } from '../parts/ui.tsx';

type Job = Output<'listJobs'>['items'][number];

export function Jobs() {
  const list = useList('listJobs', { limit: 100 });
  return (
    <>
      <Head title="Jobs">
        <a href={to(['blueprints'])}>Make one from a blueprint</a>
      </Head>
      <Show of={list}>
        {(jobs) => (
          <>
            {jobs.length === 0 && <p class="dim">There are no jobs yet.</p>}
            {jobs.map((job) => (
              <One key={job.id} of={job} />
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

function One({ of }: { of: Job }) {
  const { id, name, profile, state, description, schedule, schedule_human, timezone, deliver, next_runs, runs } = of;
  const [next] = next_runs;
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
          ['Next', next === undefined ? 'never' : instant(Date.parse(next))],
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
    </Card>
  );
}
