/** Blueprints: the list of job templates, and the form that creates a job from one. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Copy, Operator } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Card, Facts, Field, Form, Head, Note, Show, Table } from '../parts/ui.tsx';

type CreatedJob = Output<'createBlueprintJob'>;
type Listed = Output<'listBlueprints'>['items'][number];

export const Blueprints = () => (
  <>
    <Head title="Blueprints" />
    <Show of={useData('listBlueprints', {}, false)}>
      {({ items }) => (
        <Table
          label="Blueprints"
          items={items}
          empty="No blueprints."
          keyOf={({ key }) => key}
          columns={[
            {
              title: 'Blueprint',
              cell: ({ key, title }) => (
                <a class="whole" href={to(['blueprints', key])}>
                  {title}
                </a>
              ),
            },
            { title: 'Description', look: 'clip', cell: ({ description }) => description },
            { title: 'Schedule', look: 'end', cell: ({ scheduleHuman }) => scheduleHuman },
          ]}
        />
      )}
    </Show>
  </>
);

export function Blueprint({ id }: ViewProps) {
  const found = useData('listBlueprints', {}, false);
  const one = found.data?.items.find(({ key }) => key === id);
  return (
    <>
      <Head title={one?.title ?? 'Blueprint'} of="Blueprints" />
      <Show of={found}>{() => (one === undefined ? <p>Blueprint {id} does not exist.</p> : <Fill of={one} />)}</Show>
    </>
  );
}

function Fill({ of }: { of: Listed }) {
  const [created, setCreated] = useState<CreatedJob | null>(null);
  const send = async (typed: Readonly<Record<string, string>>): Promise<void> => {
    setCreated(null);
    const filled = Object.entries(typed).filter(([, value]) => value !== '');
    const { '.name': name, ...values } = Object.fromEntries(filled);
    const job = await call('createBlueprintJob', { key: of.key, values, ...(name === undefined ? {} : { name }) });
    setCreated(job);
    notify(`Job ${job.name} created.`, 'good');
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
              label={optional ? `${label} (optional)` : label}
              options={options.map((option) => [option, option])}
              strict={strict && options.length > 0}
            />
          ))}
          <Field label="Job name" name=".name" placeholder={of.key} />
          <div class="bar">
            <Operator>
              <button type="submit" class="primary">
                Create job
              </button>
            </Operator>
            <Copy text={() => of.command}>Copy chat command</Copy>
          </div>
        </Form>
      </Card>
      {created !== null && <Result of={created} />}
    </>
  );
}

const Result = ({ of: { id, name, schedule_human, timezone, next_run, deliver, warnings } }: { of: CreatedJob }) => (
  <Card title="Job created">
    <Facts
      of={[
        ['Name', <a href={to(['jobs', id])}>{name}</a>],
        ['Schedule', `${schedule_human} in ${timezone}`],
        ['Next run', next_run === null ? 'never' : instant(next_run)],
        ['Targets', deliver.join(', ')],
      ]}
    />
    {warnings.map((text) => (
      <Note key={text} kind="warn">
        {text}
      </Note>
    ))}
  </Card>
);
