/** Blueprints: what jobs can be made from, and the form that makes one. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Copy, Operator } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Card, Entries, Facts, Field, Head, Note, Refusal, Row, Show } from '../parts/ui.tsx';

type Made = Output<'createBlueprintJob'>;
type Listed = Output<'listBlueprints'>['items'][number];

export const Blueprints = () => (
  <>
    <Head title="Blueprints" />
    <Card>
      <Show of={useData('listBlueprints', {}, false)}>
        {({ items }) => (
          <Entries empty="There are no blueprints.">
            {items.map(({ key, title, description, scheduleHuman }) => (
              <Row key={key} href={to(['blueprints', key])} name={title} about={description} end={scheduleHuman} />
            ))}
          </Entries>
        )}
      </Show>
    </Card>
  </>
);

export function Blueprint({ id }: ViewProps) {
  const found = useData('listBlueprints', {}, false);
  const one = found.data?.items.find(({ key }) => key === id);
  return (
    <>
      <Head title={one?.title ?? 'Blueprint'} of="Blueprints" />
      <Show of={found}>{() => (one === undefined ? <p>There is no blueprint {id}.</p> : <Form of={one} />)}</Show>
    </>
  );
}

function Form({ of }: { of: Listed }) {
  const [made, setMade] = useState<Made | null>(null);
  const [error, setError] = useState<string | null>(null);
  const send = (event: Event & { readonly currentTarget: HTMLFormElement }): void => {
    event.preventDefault();
    setMade(null);
    setError(null);
    const given = [...new FormData(event.currentTarget)].map(([key, value]) => [key, String(value).trim()] as const);
    const { '.name': name, ...values } = Object.fromEntries(given.filter(([, value]) => value !== ''));
    call('createBlueprintJob', { key: of.key, values, ...(name === undefined ? {} : { name }) }).then(
      (job) => {
        setMade(job);
        notify(`Job ${job.name} is made.`, 'good');
      },
      ({ message }: Error) => setError(message),
    );
  };
  return (
    <>
      <Card>
        <p>{of.description}</p>
        <form onSubmit={send}>
          {of.fields.map(({ name, type, label, default: value, options, optional, strict, help }) => (
            <Field
              key={name}
              {...{ name, value, help, required: !optional, type: type === 'time' ? type : 'text' }}
              label={optional ? `${label} (may be left out)` : label}
              options={options.map((option) => [option, option])}
              strict={strict && options.length > 0}
            />
          ))}
          <Field label="Name of the job" name=".name" placeholder={of.key} />
          <Refusal of={error} />
          <div class="bar">
            <Operator>
              <button type="submit" class="primary">
                Make the job
              </button>
            </Operator>
            <Copy text={() => of.command}>Copy the chat command</Copy>
          </div>
        </form>
      </Card>
      {made !== null && <Result of={made} />}
    </>
  );
}

const Result = ({ of: { name, schedule_human, timezone, next_run, deliver, warnings } }: { of: Made }) => (
  <Card title="The job is made">
    <Facts
      of={[
        ['Name', <a href={to(['jobs'])}>{name}</a>],
        ['Runs', `${schedule_human} in ${timezone}`],
        ['Next', next_run === null ? 'never' : instant(next_run)],
        ['Goes to', deliver.join(', ')],
      ]}
    />
    {warnings.map((text) => (
      <Note key={text} kind="warn">
        {text}
      </Note>
    ))}
  </Card>
);
