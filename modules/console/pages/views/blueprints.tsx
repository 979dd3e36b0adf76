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
import { Card, Entries, Facts, Field, Form, Head, Note, Row, Show } from '../parts/ui.tsx';

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
      <Show of={found}>{() => (one === undefined ? <p>There is no blueprint {id}.</p> : <Fill of={one} />)}</Show>
    </>
  );
}

function Fill({ of }: { of: Listed }) {
  const [made, setMade] = useState<Made | null>(null);
  const send = async (given: Readonly<Record<string, string>>): Promise<void> => {
    setMade(null);
    const filled = Object.entries(given).filter(([, value]) => value !== '');
    const { '.name': name, ...values } = Object.fromEntries(filled);
    const job = await call('createBlueprintJob', { key: of.key, values, ...(name === undefined ? {} : { name }) });
    setMade(job);
    notify(`Job ${job.name} is made.`, 'good');
  };
  return (
    <>
      <Card>
        <p>{of.description}</p>
        <Form send={send}>
          {of.fields.map(({ name, type, label, default: value, options, optional, strict, help }) => (
            <Field
              key={name}
              name={name}
              value={value}
              help={help}
              required={!optional}
              type={type === 'time' ? type : 'text'}
              label={optional ? `${label} (may be left out)` : label}
              options={options.map((option) => [option, option])}
              strict={strict && options.length > 0}
            />
          ))}
          <Field label="Name of the job" name=".name" placeholder={of.key} />
          <div class="bar">
            <Operator>
              <button type="submit" class="primary">
                Make the job
              </button>
            </Operator>
            <Copy text={() => of.command}>Copy the chat command</Copy>
          </div>
        </Form>
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
