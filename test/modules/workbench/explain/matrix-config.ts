/** Defines the routes and requests of the agreement suite: every kind of route, with every kind of secret and address. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { stringify } from 'yaml';

const SECRET = 'a secret that no one guesses 1';

/** The secret of a route, and the key that its sender signs with; null: it does not sign. */
export const SECRETS = {
  literal: { secret: SECRET, key: SECRET },
  reference: { secret: 'env:ROUTE_SECRET', key: 'the secret of the environment' },
  open: { secret: 'INSECURE_NO_AUTH', key: null },
  'open-reference': { secret: 'env:OPEN_SECRET', key: null },
} as const;

export const ENV = { ROUTE_SECRET: SECRETS.reference.key, OPEN_SECRET: 'INSECURE_NO_AUTH' };

const KINDS = {
  agent: {},
  coalesce: { coalesce: { key: '{number}', window_seconds: 1 } },
  direct: { deliver_only: true },
  message: { agent: 'none' },
  job: { cron_job: 'report' },
  disabled: { enabled: false },
  filtered: { events: ['push'], filters: [{ field: 'action', equals: 'opened' }] },
  scripted: { script: 'shape.sh' },
} as const;

const TARGETS = {
  log: {},
  chat: { deliver: 'telegram', deliver_extra: { chat_id: '-5' } },
  payload: { deliver: 'telegram', deliver_extra: { chat_id: '{chat}' } },
  home: { deliver: 'telegram' },
  nowhere: { deliver: 'mattermost' },
  both: { deliver: ['telegram', 'mattermost'] },
} as const;

/** The text about the script's outcome, by the name of the request. */
export const SCRIPT_SAYS: Readonly<Record<string, string>> = {
  silent: 'script printed [SILENT]',
  nothing: 'script printed nothing',
  key: 'script set __hookwright_ignore__',
  fail: 'script exited with 4',
};

/** Scripts; `say` in the payload selects the behaviour. */
export const SCRIPT = `body=$(cat)
case "$body" in
  *'"say":"silent"'*) echo '[SILENT]' ;;
  *'"say":"nothing"'*) ;;
  *'"say":"key"'*) echo '{"__hookwright_ignore__": true}' ;;
  *'"say":"fail"'*) echo 'no such branch' >&2; exit 4 ;;
  *) echo "$body" ;;
esac
`;

export interface MatrixRoute {
  readonly name: string;
  readonly kind: keyof typeof KINDS;
  readonly secret: keyof typeof SECRETS;
  readonly target: keyof typeof TARGETS;
}

const keys = <Key extends string>(of: Readonly<Record<Key, unknown>>): readonly Key[] => Object.keys(of) as Key[];

export const ROUTES: readonly MatrixRoute[] = keys(KINDS).flatMap((kind) =>
  keys(SECRETS).flatMap((secret) =>
    keys(TARGETS).flatMap((target) =>
      ((kind === 'job' || kind === 'disabled') && target !== 'log') || (kind === 'direct' && target === 'log')
        ? []
        : [{ name: `${kind}-${secret}-${target}`, kind, secret, target }],
    ),
  ),
);

/** @param service receives all messages @param more further keys of each route */
export function matrixConfig(service: string, more: Readonly<Record<string, unknown>> = {}): string {
  const routes = ROUTES.map(({ name, kind, secret, target }) => [
    name,
    {
      ...{ secret: SECRETS[secret].secret, prompt: '{route} #{number} {action}' },
      ...{ ...KINDS[kind], ...(kind === 'job' ? {} : TARGETS[target]), ...more },
    },
  ]);
  return stringify({
    platforms: {
      webhook: {
        ...{ enabled: true, max_body_bytes: 2000, rate_limit: 1_000_000, routes: Object.fromEntries(routes) },
      },
      telegram: { enabled: true, token: '1:a', api_base: service, home_channel: '-77' },
      mattermost: { enabled: true, access_token: 'b7d1f0c2a9e84c55', api_base: service },
    },
    jobs: { report: { schedule: '0 7 * * *', prompt: 'report' } },
    gateway: { capture: 'all', capture_per_second: 1000 },
  });
}

export interface MatrixRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const PAYLOAD = { action: 'opened', number: 7, chat: '-5' };
const JSON_TYPE = { 'content-type': 'application/json' };

/** All kinds of requests to a route. */
const REQUESTS: Readonly<Record<string, (sign: Sign) => MatrixRequest>> = {
  good: (sign) => sign(JSON.stringify(PAYLOAD), JSON_TYPE),
  otherEvent: (sign) => sign(JSON.stringify(PAYLOAD), { ...JSON_TYPE, 'x-github-event': 'issues' }),
  filtered: (sign) => sign(JSON.stringify({ ...PAYLOAD, action: 'closed' }), JSON_TYPE),
  unresolved: (sign) => sign(JSON.stringify({ action: 'opened' }), JSON_TYPE),
  badAddress: (sign) => sign(JSON.stringify({ ...PAYLOAD, chat: 'not a chat' }), JSON_TYPE),
  silent: (sign) => sign(JSON.stringify({ ...PAYLOAD, say: 'silent' }), JSON_TYPE),
  nothing: (sign) => sign(JSON.stringify({ ...PAYLOAD, say: 'nothing' }), JSON_TYPE),
  key: (sign) => sign(JSON.stringify({ ...PAYLOAD, say: 'key' }), JSON_TYPE),
  fail: (sign) => sign(JSON.stringify({ ...PAYLOAD, say: 'fail' }), JSON_TYPE),
  asForm: (sign) => sign(JSON.stringify(PAYLOAD), { 'content-type': 'application/x-www-form-urlencoded' }),
  noType: (sign) => sign(JSON.stringify(PAYLOAD), { 'content-type': '' }),
  csv: (sign) => sign('a,b', { 'content-type': 'text/csv' }),
  broken: (sign) => sign('{"a":', JSON_TYPE),
  get: () => ({ method: 'GET', headers: {}, body: null }),
  large: (sign) => sign(JSON.stringify({ ...PAYLOAD, more: 'x'.repeat(3000) }), JSON_TYPE),
  wrong: () => ({
    method: 'POST',
    headers: { ...JSON_TYPE, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
    body: '{}',
  }),
  page: (sign) => sign(JSON.stringify(PAYLOAD), { ...JSON_TYPE, origin: 'https://page.example' }),
};

/** Creates a request of a sender that has the secret. Its event is `push` unless a header overrides it. */
type Sign = (body: string, headers: Readonly<Record<string, string>>) => MatrixRequest;

/** Requests to one route, each with its own id; the first is sent twice. */
export function requestsTo(route: MatrixRoute): readonly (readonly [name: string, request: MatrixRequest])[] {
  const { key } = SECRETS[route.secret];
  const named = Object.entries(REQUESTS).map(([name, make]) => {
    const sign: Sign = (body, headers) => ({
      method: 'POST',
      headers: {
        ...{ 'x-github-event': 'push', 'x-github-delivery': `${route.name}-${name}`, ...headers },
        ...(key === null
          ? {}
          : { 'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}` }),
      },
      body,
    });
    return [name, make(sign)] as const;
  });
  const [first] = named;
  assert(first !== undefined);
  return [...named, ['again', first[1]]];
}
