/** Creates a module that imports all types of senders whose packages have one file per event. */
import { readdirSync, readFileSync } from 'node:fs';
import { packagePath } from './packages.ts';
import { TWITCH_EVENTS } from './twitch-events.ts';
import type { TypedSource } from './typed-source.ts';

type TypeFiles = Pick<TypedSource, 'module' | 'events'>;

const importOf = (folder: string, name: string): string =>
  `import(${JSON.stringify(`./node_modules/${folder}/${name}.js`)})`;

/** Generated clients have the wire names in a separate type. */
const rawOf = (folder: string, name: string): string => `export type ${name} = ${importOf(folder, name)}.${name}.Raw;`;

const namesIn = (folder: string, ending: string): readonly string[] =>
  readdirSync(packagePath(folder))
    .filter((file) => file.endsWith(`${ending}.d.ts`))
    .map((file) => file.slice(0, -'.d.ts'.length))
    .sort();

/** The event's type is any text in the types; the documentation names its value. */
export function squareTypes(): TypeFiles {
  const events = namesIn('square/serialization/types', 'Event').flatMap(
    (name): readonly [string, readonly string[]][] => {
      const text = readFileSync(packagePath('square', `api/types/${name}.d.ts`), 'utf8');
      const [, event] = /type of (?:this )?event[^*]*?[`"]+([a-z_]+(?:\.[a-z_]+)+)/.exec(text) ?? [];
      return event === undefined ? [] : [[name, [event]]];
    },
  );
  const types = events.map(([name]) => rawOf('square/serialization/types', name));
  return { module: types.join('\n'), events: Object.fromEntries(events) };
}

export function agentmailTypes(): TypeFiles {
  const folder = 'agentmail/dist/cjs/serialization/resources/events/types';
  const names = namesIn(folder, 'Event');
  return {
    module: names.map((name) => rawOf(folder, name)).join('\n'),
    events: Object.fromEntries(names.map((name) => [name, { at: 'event_type' }])),
  };
}

const WEBFLOW_EVENTS: Readonly<Record<string, readonly string[]>> = {
  FormSubmissionTrigger: ['form_submission'],
  SitePublish: ['site_publish'],
  PageCreatedWebhook: ['page_created'],
  PageMetadataUpdatedWebhook: ['page_metadata_updated'],
  PageDeletedWebhook: ['page_deleted'],
  NewOrder: ['ecomm_new_order'],
  UpdatedOrder: ['ecomm_order_changed'],
  CollectionItemCreated: ['collection_item_created'],
  CollectionItemChanged: ['collection_item_changed'],
  CollectionItemRemoved: ['collection_item_deleted'],
  CollectionItemPublished: ['collection_item_published'],
  CollectionItemUnpublished: ['collection_item_unpublished'],
  Comment: ['comment_created'],
};

export function webflowTypes(): TypeFiles {
  const types = Object.keys(WEBFLOW_EVENTS).map((name) => rawOf('webflow-api/serialization/types', name));
  return { module: types.join('\n'), events: WEBFLOW_EVENTS };
}

/** The package has one folder per kind of event, with one class per body. */
export function adyenPlatformTypes(): TypeFiles {
  const typings = '@adyen/api-library/lib/src/typings';
  const folders = readdirSync(packagePath(typings)).filter((name) => name.endsWith('Webhooks'));
  const found = folders.flatMap((folder) =>
    namesIn(`${typings}/${folder}`, 'NotificationRequest').map((file) => {
      const name = `${file[0]?.toUpperCase()}${file.slice(1)}`;
      return { alias: `${folder}_${name}`, type: `${importOf(`${typings}/${folder}`, file)}.${name}` };
    }),
  );
  return {
    module: found.map(({ alias, type }) => `export type ${alias} = ${type};`).join('\n'),
    events: Object.fromEntries(found.map(({ alias }) => [alias, { at: 'type' }])),
  };
}

/** dev.twitch.tv/docs/eventsub/eventsub-reference */
const TWITCH_BODY = `
type Body<Event> = {
  event: Event;
  subscription: {
    id: string; status: string; type: string; version: string; cost: number; created_at: string;
    condition: { [name: string]: unknown }; transport: { method: string; callback?: string };
  };
};`;

export function twitchTypes(): TypeFiles {
  const folder = '@twurple/eventsub-base/lib/events';
  const entries = Object.entries(TWITCH_EVENTS);
  const types = entries.map(([name]) => {
    const text = readFileSync(packagePath(folder, `EventSub${name}Event.external.d.ts`), 'utf8');
    const exported = /export (?:interface|type) (EventSub\w+EventData)\b/g;
    const found = [...text.matchAll(exported)].map(([, type = '']) => type);
    const data = found.find((type) => type === `EventSub${name}EventData`) ?? found.at(-1);
    return `export type ${name} = Body<${importOf(folder, `EventSub${name}Event.external`)}.${data}>;`;
  });
  return { module: [TWITCH_BODY, ...types].join('\n'), events: Object.fromEntries(entries) };
}
