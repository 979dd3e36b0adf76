/** Blueprints: the list of job templates, and the form that creates a job from one. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { call } from '../api.ts';
import { Copy } from '../parts/act.tsx';
import { useData } from '../parts/data.ts';
import { scheduleText } from '../parts/format.ts';
import { ListView, named } from '../parts/list.tsx';
import { notify } from '../parts/notify.tsx';
import type { ViewProps } from '../parts/router.ts';
import { to } from '../parts/router.ts';
import type { Values } from '../parts/ui.tsx';
import { Card, Head, Show } from '../parts/ui.tsx';
import { JobForm, useTargets } from './jobs.tsx';

type Listed = Output<'listBlueprints'>['items'][number];

export const Blueprints = ({ place }: ViewProps) => (
  <ListView
    title="Blueprints"
    of="listBlueprints"
    place={place}
    limit={0}
    empty="No blueprints."
    keyOf={({ key }) => key}
    columns={() => [
      ['Blueprint', ({ key, title, description }) => named(['blueprints', key], title, description), 'clip'],
      ['Schedule', ({ scheduleHuman }) => scheduleText(scheduleHuman), 'end plain'],
    ]}
  />
);

export function Blueprint({ id }: ViewProps) {
  const found = useData('listBlueprints', {}, false);
  const one = found.data?.items.find(({ key }) => key === id);
  return (
    <>
      <Head title={one?.title ?? 'Blueprint'} of="Blueprints">
        {one !== undefined && <Copy text={() => one.command}>Copy chat command</Copy>}
      </Head>
      <Show of={found}>{() => (one === undefined ? <p>Blueprint {id} does not exist.</p> : <Fill of={one} />)}</Show>
    </>
  );
}

function Fill({ of }: { of: Listed }) {
  const defaults = Object.fromEntries(of.fields.map(({ name, default: value }) => [name, value]));
  const [typed, setTyped] = useState<Values>(defaults);
  const targets = useTargets('default', defaults.deliver ?? '');
  const inputOf = (given: Values, dry_run: boolean) => {
    const filled = Object.entries(given).filter(([, value]) => value !== '');
    const { '.name': name, '.timezone': timezone, ...values } = Object.fromEntries(filled);
    return { key: of.key, values, dry_run, ...(name && { name }), ...(timezone && { timezone }) };
  };
  const preview = useData('createBlueprintJob', inputOf(typed, true), false);
  const send = async (given: Values): Promise<void> => {
    const { id, name, warnings } = await call('createBlueprintJob', inputOf(given, false));
    location.hash = to(['jobs', id]);
    notify([`Job ${name} created.`, ...warnings].join(' '), 'good');
  };
  const fields = of.fields.map(({ name, label, default: value, options, optional, strict, help }) => ({
    name,
    value,
    required: !optional,
    label: optional ? `${label} (optional)` : label,
    help: name === 'deliver' ? '' : help,
    options: name === 'deliver' ? targets : options.map((option) => [option, option] as const),
    strict: name === 'deliver' || (strict && options.length > 0),
  }));
  const zone = { label: 'Time zone (optional)', name: '.timezone', placeholder: preview.data?.timezone ?? '' };
  const named = { label: 'Job name (optional)', name: '.name', placeholder: of.key };
  const form = { targets, send, preview };
  return (
    <Card title="New job">
      <p>{of.description}</p>
      <JobForm {...form} fields={[...fields, zone, named]} changed={setTyped} button="Create job" />
    </Card>
  );
}
