/** Converts the webhook part of a Hermes Agent config: its server, toolsets, agent and routes. */
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import type { SourceText } from '../../../../compiler/text/source-text.ts';
import type { Conversion, ConversionRefusal, Tools } from '../conversion.ts';
import { parseForeign, refuseText, renamed } from '../conversion.ts';
import type { DraftRoute, Settings } from '../draft.ts';
import { addRoute, createDraft, settle } from '../draft.ts';
import { convertRoute, convertSecret } from './convert-route.ts';
import type { ServerFacts } from './convert-server.ts';
import { convertAgent, convertSections, convertServer } from './convert-server.ts';
import type { Hermes } from './hermes-value.ts';
import { mapAt } from './hermes-value.ts';
import { convertPlatforms } from './target-settings.ts';

/** Possible paths of the routes; for each route name, the first path that defines it wins. */
const PLACES: readonly NodePath[] = [
  ['platforms', 'webhook', 'extra', 'routes'],
  ['platforms', 'webhook', 'routes'],
  ['webhooks', 'routes'],
];

const HOOKS_FILE = 'to convert a hooks file of adnanh/webhook: hookwright convert adnanh';

/** @param env variables from the `.env` next to the config */
export function convertHermes(
  source: SourceText,
  env: ReadonlyMap<string, string>,
  { check, newSecret }: Tools,
): Conversion | ConversionRefusal {
  const file = parseForeign(source);
  if ('faults' in file) return file;
  if (!isPlainMap(file.value)) return refuseText('a config of Hermes Agent is a map: sections by name', HOOKS_FILE);
  const routes = findRoutes(file.value as Settings);
  if (routes.length === 0)
    return refuseText('the file has no webhook routes', 'they are under platforms.webhook.extra.routes');
  const draft = createDraft('Hermes Agent', file, newSecret);
  const isSubscriptionFile = routes.every(({ path }) => path.length === 1);
  const config = isSubscriptionFile ? {} : (file.value as Settings);
  const { hasHost } = convert({ draft, config, env }, routes);
  const notes = [...NOTES, ...(hasHost ? [] : [HOST]), ...(isSubscriptionFile ? [] : [SUBSCRIPTIONS])];
  return settle(draft, check, { programs: new Map(), notes });
}

const NOTES: readonly string[] = [
  'Disable the webhook platform of Hermes Agent (`platforms.webhook.enabled: false`) before you start the gateway: both listen on the same port.',
  'A route whose sender sends `Authorization: Bearer …` or `Linear-Signature` needs `source: bearer` or `source: linear`: hookwright does not try these automatically.',
];
const HOST =
  'Without `host`, Hermes Agent listens on every address and hookwright on 127.0.0.1, behind a proxy or tunnel.';
const SUBSCRIPTIONS =
  'Routes created by `hermes webhook subscribe` are in ~/.hermes/webhook_subscriptions.json: also convert that file.';

interface FoundRoute {
  readonly name: string;
  readonly path: NodePath;
  readonly settings: Settings;
}

function findRoutes(config: Settings): readonly FoundRoute[] {
  const routesByName = new Map<string, FoundRoute>();
  for (const place of PLACES)
    for (const [name, settings] of Object.entries(mapAt(config, ...place.map(String))))
      if (isPlainMap(settings) && !routesByName.has(name))
        routesByName.set(name, { name, path: [...place, name], settings: settings as Settings });
  if (routesByName.size > 0 || !isSubscriptions(config)) return [...routesByName.values()];
  return Object.entries(config).map(([name, settings]) => ({ name, path: [name], settings: settings as Settings }));
}

/** Whether the file is a `webhook_subscriptions.json`: a map of routes. */
const isSubscriptions = (config: Settings): boolean => {
  const values = Object.values(config);
  const isRoute = (value: unknown): boolean =>
    isPlainMap(value) && (Object.hasOwn(value, 'deliver') || Object.hasOwn(value, 'prompt'));
  return values.length > 0 && values.every(isRoute);
};

function convert(hermes: Hermes, routes: readonly FoundRoute[]): ServerFacts {
  const { draft } = hermes;
  const server = convertServer(hermes);
  for (const { name, path, settings } of routes) {
    const route = addRoute(draft, 'route', name, path);
    noteName(route, name);
    convertSecret(hermes, route, settings.secret, server);
    convertRoute(route, settings);
  }
  convertSections(hermes);
  convertPlatforms(hermes, new Set(draft.routes.map(({ settings }) => String(settings.deliver ?? 'log'))));
  const isRun = ({ settings }: DraftRoute): boolean => settings.deliver_only !== true;
  if (draft.routes.some(isRun)) convertAgent(hermes);
  return server;
}

function noteName({ name, path, report }: DraftRoute, written: string): void {
  if (name === written) report.carried(path);
  else report.changed(path, renamed(name), `Its URL ends in /webhooks/${name}`);
}
