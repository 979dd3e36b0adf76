/** Jobs: a table with the next run of each; or one job with its next and last runs. */
import { useContext, useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Act, Ask, Open, Operator, Pause } from '../parts/act.tsx';
import type { ItemOf, Loaded } from '../parts/data.ts';
import { useData, useList } from '../parts/data.ts';
import { actionText, inZone, people, scheduleText, shortInZone } from '../parts/format.ts';
import { ListTable, ListView, named, pauseText, under } from '../parts/list.tsx';
import { notify } from '../parts/notify.tsx';
import { Session } from '../parts/role.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import type { FieldProps, FormProps, Options, Values } from '../parts/ui.tsx';
import { Ago, Block, Card, Facts, Field, Form, Head, Note, Show, State } from '../parts/ui.tsx';
import { DURATION, reasonOf, STATE } from './deliveries.tsx';

type Job = Output<'listJobs'>['items'][number];
type Details = Output<'getJob'>;

export const Jobs = ({ place }: ViewProps) => (
  <ListView
    title="Jobs"
    of="listJobs"
    place={place}
    empty="No jobs yet."
    actions={() => <Open href={to(['blueprints'])}>New job</Open>}
    columns={({ reload }) => [
      ['Job', ({ id, name, description }) => named(['jobs', id], name, description), 'clip'],
      ['State', stateOf],
      ['Schedule', ({ schedule_human, timezone }) => [scheduleText(schedule_human), under(timezone)]],
      ['Next run', nextOf, 'end'],
      ['Last run', ({ runs: [last] }) => (last === undefined ? 'none yet' : lastOf(last))],
      ['', (job) => <Actions of={job} changed={reload} />, 'end'],
    ]}
  />
);

const stateOf = ({ state, paused, paused_until: end, last_action: last }: Job) => [
  <State of={state} />,
  paused && under(pauseText({ until: end === null ? null : Date.parse(end), by: last?.by })),
];

const nextOf = ({ next_runs: [next], timezone }: Job) => (next === undefined ? 'never' : shortInZone(next, timezone));

const lastOf = ({ id, state, started_at }: Job['runs'][number]) => (
  <a href={to(['deliveries', id])} children={[<State of={state} />, ' ', <Ago at={Date.parse(started_at)} />]} />
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
        <Act act={run} label={`Run now: ${name}`} children="Run now" />
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
  const loaded = useData('getJob', { id });
  const { data: job, reload } = loaded;
  const canEdit = useContext(Session)?.role === 'operator' && job?.place === null;
  return (
    <>
      <Head title={job?.name ?? 'Job'} of="Jobs" about={job !== null && stateOf(job)}>
        {job !== null && <Actions of={job} changed={reload} />}
        {canEdit && <Remove of={job} />}
      </Head>
      <Show of={loaded}>{(one) => <One of={one} canEdit={canEdit} />}</Show>
      {canEdit && <Edit of={job} />}
    </>
  );
}

function Remove({ of: { id, name, routes } }: { of: Details }) {
  const remove = async (): Promise<string> => {
    await call('removeJob', { id });
    location.hash = to(['jobs']);
    return `Job ${name} removed.`;
  };
  return (
    <Ask text="Remove" label={`Remove ${name}`} title={`Remove job ${name}`} choices={{ Remove: remove }}>
      <p>The job never runs again. Its deliveries stay until retention deletes them.</p>
      {routes.length > 0 && <Note kind="warn">Events of these routes are ignored then: {routes.join(', ')}.</Note>}
    </Ask>
  );
}

type Facted = Omit<Output<'editJob'>, 'warnings'> & { readonly warnings?: readonly string[] };

/** A target with where it goes, as in the field where it is chosen. */
const targetText = (name: string, targets: Options): string => targets.find(([each]) => each === name)?.[1] ?? name;

/** When a job runs, what it asks, and where its answers go. @param asksPrompt the prompt is in a field */
const factsOf = (of: Facted, targets: Options, asksPrompt: boolean) => {
  const next = of.next_runs.slice(0, 3).map((at) => <div key={at}>{inZone(at, of.timezone)}</div>);
  return [
    ['Schedule', `${scheduleText(of.schedule_human)} (${of.schedule})`],
    ['Next runs', next.length === 0 ? 'never' : next],
    ['Time zone', of.timezone],
    ['Targets', of.deliver.map((name) => targetText(name, targets)).join(', ')],
    ['Prompt', !asksPrompt && <Block label="Prompt">{of.prompt}</Block>],
    ['Warnings', of.warnings?.join('; ')],
  ] as const;
};

function One({ of, canEdit }: { of: Details; canEdit: boolean }) {
  const zone = of.timezone;
  return (
    <div class="grid">
      <Card>
        {of.description !== null && <p>{of.description}</p>}
        <Facts
          of={[
            ['Last action', actionText(of.last_action)],
            ['Changed by', people(of.changed_by ?? '')],
            ...factsOf(of, useTargets(of.profile, of.deliver.join(', ')), canEdit),
            ['Profile', of.profile !== 'default' && of.profile],
            ['Fired by', of.routes.join(', ')],
            ['Configured in', of.place !== null && `${of.place}: change or remove it there`],
            ['ID', <span class="mono">{of.id}</span>],
          ]}
        />
      </Card>
      <Card title="Last runs" aside={<a href={to(['deliveries'], { job: of.id })}>All deliveries of this job</a>}>
        <ListTable
          list={useList('listDeliveries', { job: of.id, limit: 10 })}
          label="Last runs"
          empty="No runs yet."
          more={null}
          columns={[[`Run (${zone})`, (run) => <Run of={run} zone={zone} />, 'clip'], STATE, DURATION]}
        />
      </Card>
    </div>
  );
}

/** A run of a job, in the job's time zone: why it waits or has failed, else how its answer begins. */
function Run({ of: { id, state, accepted_at, event, ...of }, zone }: { of: ItemOf<'listDeliveries'>; zone: string }) {
  const run = useData('getRun', state === 'done' ? { id } : null, false).data;
  const name = `${shortInZone(accepted_at, zone)}${event === 'manual' ? ' (by hand)' : ''}`;
  return <>{named(['deliveries', id], name, run?.latest.answer?.slice(0, 200) ?? reasonOf(of))}</>;
}

/** The targets of a profile to choose from. @param chosen added if it is not one of them */
export function useTargets(profile: string, chosen: string): Options {
  const { items = [] } = useData('listTargets', { profile }, false).data ?? {};
  const known = items.map(({ name, about }) => [name, about === null ? name : `${about} (${name})`] as const);
  return known.some(([name]) => name === chosen) ? known : [[chosen, chosen], ...known];
}

type Draft = { fields: readonly FieldProps[]; targets: Options; preview: Loaded<Output<'editJob'>>; button: string };
type JobFormProps = Draft & Pick<FormProps, 'send' | 'changed' | 'children'>;

/**
 * Fields, and beside them what the job becomes.
 * @param preview the job as it would be stored
 * @param children what changes in a stored job, whose prompt is a field
 */
export const JobForm = ({ fields, targets, preview, button, children, ...form }: JobFormProps) => (
  <Form {...form}>
    <div class="grid">
      <div class="stack">
        {fields.map((field) => (
          <Field key={field.name} {...field} />
        ))}
        <Operator>
          <div class="bar">
            <button type="submit" class="primary" children={button} />
          </div>
        </Operator>
      </div>
      <div class="stack" aria-live="polite">
        {children}
        <Operator>
          <h3>The job you get</h3>
          <Show of={preview}>{(saved) => <Facts of={factsOf(saved, targets, children !== undefined)} />}</Show>
        </Operator>
      </div>
    </div>
  </Form>
);

/** Changes a job that was created at run time. Sends only what the person has changed. */
function Edit({ of }: { of: Details }) {
  const { id, name, description, schedule, timezone, prompt, profile } = of;
  const deliver = of.deliver.join(', ');
  const targets = useTargets(profile, deliver);
  const before: Values = { name, description: description ?? '', schedule, timezone, deliver, prompt: prompt.trim() };
  const named: Readonly<Record<string, FieldProps>> = {
    name: { label: 'Name', required: true },
    description: { label: 'Description' },
    schedule: { label: 'Schedule', help: 'Minute, hour, day of month, month, day of week', required: true },
    timezone: { label: 'Time zone', required: true },
    deliver: { label: 'Target', options: targets, strict: true },
    prompt: { label: 'Prompt', type: 'textarea', required: true },
  };
  const fields = Object.entries(named).map(([name, field]) => ({ ...field, name, value: before[name] ?? '' }));
  const [typed, setTyped] = useState(before);
  const change = Object.fromEntries(Object.entries(typed).filter(([field, value]) => value !== before[field]));
  const changes = fields.filter((field) => field.name in change);
  const preview = useData('editJob', { id, ...change, dry_run: true }, false);
  const send = async (): Promise<void> => {
    const saved = await call('editJob', { id, ...change, dry_run: false });
    location.hash = to(['jobs']);
    notify([`Job ${saved.name} changed.`, ...saved.warnings].join(' '), 'good');
  };
  const wordsOf = (values: Values, words: string): Values => {
    return { ...values, schedule: scheduleText(words), deliver: targetText(values.deliver ?? '', targets) };
  };
  const old = wordsOf(before, of.schedule_human);
  const now = wordsOf(change, preview.data?.schedule_human ?? change.schedule ?? '');
  const changeOf = ({ name: field, label }: (typeof fields)[number]) =>
    [label, field === 'prompt' ? 'changed' : `${old[field] || '(none)'} → ${now[field] || '(none)'}`] as const;
  const form = { fields, targets, send, preview };
  return (
    <Card title="Change this job">
      <JobForm {...form} changed={setTyped} button="Save changes">
        <h3>{changes.length === 0 ? 'No changes yet' : 'What changes'}</h3>
        <Facts of={changes.map(changeOf)} />
      </JobForm>
    </Card>
  );
}
