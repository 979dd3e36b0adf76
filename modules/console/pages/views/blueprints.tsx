/** Blueprints: what jobs can be made from, and the form that makes one. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { useData } from '../parts/data.ts';
import { instant } from '../parts/format.ts';
import { notify } from '../parts/notify.tsx';
import { Operator } from '../parts/role.tsx';
import { to } from '../parts/router.ts';
import { Card, Copy, Facts, Head, Note, Rows, Show } from '../parts/ui.tsx';

type Made = Output<'createBlueprintJob'>;
type Listed = Output<'listBlueprints'>['items'][number];
type Field = Listed['fields'][number];

export function Blueprints() {
  const found = useData('listBlueprints', {}, false);
  return (
    <>
      <Head title="Blueprints" />
      <Card>
        <Show of={found}>
          {({ items }) => (
            <Rows of={items} empty="There are no blueprints.">
              {({ key, title, description, scheduleHuman }) => (
                <li key={key}>
                  <a class="row" href={to(['blueprints', key])}>
                    <span class="main">
                      <b>{title}</b> <span class="dim">{description}</span>
                    </span>
                    <span class="dim small end">{scheduleHuman}</span>
                  </a>
                </li>
              )}
            </Rows>
          )}
        </Show>
      </Card>
    </>
  );
}

export function Blueprint({ id }: { id: string }) {
  const found = useData('listBlueprints', {}, false);
  const one = found.data?.items.find(({ key }) => key === id);
  return (
    <>
      <Head title={one?.title ?? 'Blueprint'} crumb={<a href={to(['blueprints'])}>Blueprints</a>} />
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
    const given = new FormData(event.currentTarget);
    const text = (name: string): string => String(given.get(name) ?? '').trim();
    const filled = of.fields.map(({ name }) => [name, text(`field.${name}`)] as const);
    const values = Object.fromEntries(filled.filter(([, value]) => value !== ''));
    const named = text('name') === '' ? {} : { name: text('name') };
    call('createBlueprintJob', { key: of.key, values, ...named }).then(
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
          {of.fields.map((field) => (
            <Input key={field.name} of={field} />
          ))}
          <p class="field">
            <label>
              Name of the job
              <input type="text" name="name" placeholder={of.key} maxLength={200} />
            </label>
          </p>
          {error !== null && (
            <div role="alert">
              <Note kind="bad">{error}</Note>
            </div>
          )}
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

function Input({ of: { name, type, label, default: usual, options, optional, strict, help } }: { of: Field }) {
  const id = `field.${name}`;
  const common = { id, name: id, 'aria-describedby': help === '' ? undefined : `${id}.help` };
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional ? ' (may be left out)' : ''}
      </label>
      {options.length > 0 && strict ? (
        <select {...common}>
          {options.map((option) => (
            <option key={option} value={option} selected={option === usual}>
              {option}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          type={type === 'time' ? 'time' : 'text'}
          defaultValue={usual}
          required={!optional}
          list={`${id}.options`}
        />
      )}
      {options.length > 0 && !strict && (
        <datalist id={`${id}.options`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
      {help !== '' && (
        <p id={`${id}.help`} class="dim small">
          {help}
        </p>
      )}
    </div>
  );
}

const Result = ({ of }: { of: Made }) => (
  <Card title="The job is made">
    <Facts
      of={[
        ['Name', <a href={to(['jobs'])}>{of.name}</a>],
        ['Runs', `${of.schedule_human} in ${of.timezone}`],
        ['Next', of.next_run === null ? 'never' : instant(Date.parse(of.next_run))],
        ['Goes to', of.deliver.join(', ')],
      ]}
    />
    {of.warnings.map((text) => (
      <Note key={text} kind="warn">
        {text}
      </Note>
    ))}
  </Card>
);
