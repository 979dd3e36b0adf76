/** Finds a shipped source that verifies requests as the trigger rule did, or defines one. */
import type { Draft, DraftRoute, Settings } from '../draft.ts';
import { moveSecret } from '../move-secret.ts';
import { variableName } from '../route-name.ts';
import type { Auth, TriggerSecret } from './condition.ts';
import { callIn } from './go-template.ts';

/** Shipped sources whose place is unique to them. Keys: verify method, kind of place, lower-case name. */
const SHIPPED: Readonly<Record<string, string>> = {
  'hmac-sha1 header x-hub-signature': 'github-sha1',
  'hmac-sha256 header x-hub-signature-256': 'github',
  'hmac-sha512 header x-hub-signature': 'hub-sha512',
  'hmac-sha256 header x-gogs-signature': 'gogs',
  'hmac-sha256 header x-gitea-signature': 'gitea',
  'hmac-sha256 header x-forgejo-signature': 'forgejo',
  'token header x-gitlab-token': 'gitlab',
  'token query token': 'url-token',
};

/** Headers with event type and delivery id, by source: commands get both values from the run. */
export const EVENT_HEADERS: Readonly<Record<string, { readonly event: string; readonly delivery: string }>> = {
  'github-sha1': { event: 'x-github-event', delivery: 'x-github-delivery' },
  github: { event: 'x-github-event', delivery: 'x-github-delivery' },
  gogs: { event: 'x-gogs-event', delivery: 'x-gogs-delivery' },
  gitea: { event: 'x-gitea-event', delivery: 'x-gitea-delivery' },
  forgejo: { event: 'x-forgejo-event', delivery: 'x-forgejo-delivery' },
  gitlab: { event: 'x-gitlab-event', delivery: 'x-gitlab-event-uuid' },
};

/** Sets source and secrets of a route; moves literal secrets to variables. */
export function setAuth(draft: Draft, route: DraftRoute, auth: Auth): void {
  const prefix = prefixOf(auth);
  const source =
    prefix === '' ? (SHIPPED[`${auth.verify} ${auth.place.kind} ${auth.place.name.toLowerCase()}`] ?? null) : 'bearer';
  route.settings.source = source ?? ownSource(draft, auth);
  if (source === null && auth.verify !== 'token') noteForm(route, auth);
  const references = auth.secrets.map((secret, at) =>
    reference(draft, route, { ...secret, text: secret.text.slice(prefix.length) }, at),
  );
  if (references.length > 1) route.settings.secrets = references;
  else [route.settings.secret] = references;
  if (source === 'github-sha1')
    route.report.changed(
      auth.secrets[0]?.path ?? route.path,
      'SHA-1 is kept, although GitHub signs with SHA-256 as well',
      'If GitHub is the sender, write `source: github`',
    );
}

function noteForm({ report, path, settings }: DraftRoute, { verify, secrets }: Auth): void {
  const digest = verify.replace('hmac-', '');
  report.changed(
    secrets[0]?.path.slice(0, -1) ?? path,
    `webhook accepts signatures with and without the prefix \`${digest}=\`, a source only one of these forms`,
    `If the log shows malformed_signature, change \`prefix\` at sources.${String(settings.source)}.signature`,
  );
}

/** `Authorization: Bearer <secret>`. */
function prefixOf({ verify, place, secrets }: Auth): string {
  const isHeader = place.kind === 'header' && place.name.toLowerCase() === 'authorization';
  return verify === 'token' && isHeader && secrets.every(({ text }) => text.startsWith('Bearer ')) ? 'Bearer ' : '';
}

/** Defines a source for one place and method. Routes with the same check share it. */
function ownSource({ config }: Draft, { verify, place }: Auth): string {
  config.sources ??= {};
  const sources = config.sources as Settings;
  const plain = place.name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const name = `${verify}-${place.kind}-${plain}`.replace(/-+$/, '').slice(0, 64);
  const at = { [place.kind]: place.name };
  const digest = verify.replace('hmac-', '');
  const isHub = /hub/i.test(place.name);
  sources[name] = {
    title: `${place.kind === 'json' ? 'Payload' : place.kind === 'query' ? 'Query' : 'Header'} ${place.name}`,
    verify,
    ...(verify === 'token'
      ? tokenPlace(place.kind, place.name)
      : { signature: hmacPlace(at, digest, isHub), encoding: 'hex', signed: '{body}' }),
    event: [{ json: 'event_type' }, { json: 'type' }],
  };
  return name;
}

/** The original accepts signatures with and without a prefix; a source accepts one form, and most senders omit the prefix. */
const hmacPlace = (at: Settings, digest: string, isHub: boolean): Settings =>
  isHub ? { ...at, split: ',', prefix: `${digest}=` } : at;

const tokenPlace = (kind: string, name: string): Settings =>
  kind === 'json' ? { signature: [{ json: name }, { form: name }] } : { signature: { [kind]: name } };

function reference(
  draft: Draft,
  { name: route, report }: DraftRoute,
  { text, path }: TriggerSecret,
  at: number,
): string {
  const call = callIn(text);
  const variable = variableName(route, at === 0 ? 'secret' : `secret_${at + 1}`);
  if (call === null) return moveSecret(draft, text, { path, report, variable });
  if (call.name === 'credential') {
    const reason = 'systemd credentials are files in a folder named after the unit';
    const instead = 'Use `file:/run/credentials/<unit>/<name>`, or put the secret into .env';
    report.changed(path, reason, instead);
  } else report.carried(path);
  if (call.name === 'cat') return `file:${call.argument}`;
  const name = call.name === 'getenv' ? call.argument : variableName(call.argument);
  draft.variables.set(name, null);
  return `env:${name}`;
}
