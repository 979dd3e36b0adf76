/** Blueprints: the list of job templates, and the form that creates a job from one. */
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Copy, Operator } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { notify } from '../parts/notify.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import { Card, Field, Form, Head, Show, Table, Whole } from '../parts/ui.tsx';

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
            ['Blueprint', ({ key, title }) => <Whole path={['blueprints', key]}>{title}</Whole>],
            ['Description', ({ description }) => description, 'clip'],
            ['Schedule', ({ scheduleHuman }) => scheduleHuman, 'end'],
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
  const send = async (typed: Readonly<Record<string, string>>): Promise<void> => {
    const filled = Object.entries(typed).filter(([, value]) => value !== '');
    const { '.name': named, ...values } = Object.fromEntries(filled);
    const input = { key: of.key, values, ...(named === undefined ? {} : { name: named }) };
    const { id, name, warnings } = await call('createBlueprintJob', input);
    location.hash = to(['jobs', id]);
    notify([`Job ${name} created.`, ...warnings].join(' '), 'good');
  };
  return (
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
  );
}
