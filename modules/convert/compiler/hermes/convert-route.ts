/** Converts one route of a Hermes Agent config, key by key. */
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import type { KeyReport } from '../conversion.ts';
import { variableName } from '../conversion.ts';
import type { DraftRoute, Settings } from '../draft.ts';
import { closeRoute } from '../draft.ts';
import type { ServerFacts } from './convert-server.ts';
import type { Hermes } from './hermes-value.ts';
import { INSECURE, secretFrom } from './hermes-value.ts';
import { PLAIN_TARGETS, PLATFORMS } from './target-settings.ts';

/** A key of a route, with the route that it is converted into and its original path. */
interface KeyContext {
  readonly route: DraftRoute;
  readonly path: NodePath;
  readonly value: unknown;
}

type ConvertKey = (context: KeyContext) => void;

/** Copies the key, which has the same meaning. */
const keep: ConvertKey = ({ route, path, value }) => {
  route.settings[String(path.at(-1))] = value;
  route.report.carried(path);
};

/** Drops an empty list or text, which means the same as no key and which the compiler rejects. */
const keepUnlessEmpty: ConvertKey = (context) => {
  const { value, route, path } = context;
  const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (isEmpty) route.report.carried(path);
  else keep(context);
};

const lose =
  (reason: string, instead?: string): ConvertKey =>
  ({ route, path }) =>
    route.report.lost(path, reason, instead);

const ONE_AGENT = lose(
  'there is one agent for all routes of a profile',
  'Set it in `agent.command`, or put the route into a profile with its own agent (docs/profiles.md)',
);

/** Drops metadata that the original's `subscribe` command added. */
const forget: ConvertKey = ({ route, path }) => route.report.changed(path, 'it is dropped');

const KEYS: Readonly<Record<string, ConvertKey>> = {
  description: keepUnlessEmpty,
  enabled: keep,
  profile: (context) => {
    keep(context);
    const instead = `hookwright profile create ${context.value}`;
    context.route.report.changed(context.path, 'in hookwright, a profile is a folder', instead);
  },
  events: (context) =>
    keepUnlessEmpty({ ...context, value: typeof context.value === 'string' ? [context.value] : context.value }),
  filters: ({ route, path, value }) =>
    keepUnlessEmpty({ route, path, value: convertFilter(value, path, route.report) }),
  script: convertScript,
  retry_on_script_failure: ({ route, path, value }) => {
    const reason = 'if a script fails, the event is answered 200, so the sender does not retry';
    const instead = 'Let the script print the payload when it cannot decide, or do its work in the agent';
    if (value === true) route.report.lost(path, reason, instead);
    else route.report.carried(path);
  },
  source_platform: lose(
    'hookwright has no such setting',
    'If it names the sender: `source: <name>` sets how requests are signed (hookwright source list)',
  ),
  created_at: forget,
  updated_at: forget,
  model: ONE_AGENT,
  provider: ONE_AGENT,
  prompt: keepUnlessEmpty,
  skills: (context) => {
    keepUnlessEmpty(context);
    const { route, path, value } = context;
    if (!Array.isArray(value) || value.length === 0) return;
    const instead = 'Copy each folder: cp -r ~/.hermes/skills/<name> ~/.hookwright/skills/';
    route.report.changed(path, "skills are read from hookwright's home", instead);
  },
  toolsets: keepUnlessEmpty,
  deliver: convertDeliver,
  deliver_extra: keepUnlessEmpty,
  deliver_only: keep,
  mirror_to_session: keep,
  coalesce: keep,
  cron_job: ({ route, path }) =>
    closeRoute(
      route,
      path,
      'the job is in the store of Hermes Agent, not in this file',
      'Create it (hookwright job create), name it here as `cron_job`, then remove `enabled: false`',
    ),
};

/** Fills the route's settings, except the secret; see `convertSecret`. */
export function convertRoute(route: DraftRoute, from: Settings): void {
  for (const [key, value] of Object.entries(from)) {
    if (key === 'secret' || key.startsWith('x-')) continue;
    const convert = (Object.hasOwn(KEYS, key) ? KEYS[key] : undefined) ?? lose('hookwright has no such setting');
    convert({ route, path: [...route.path, key], value });
  }
  if (from.enabled === false || from.cron_job !== undefined) route.settings.enabled = false;
}

/** A route without authentication is closed unless only this machine can reach it, as in the original. */
export function convertSecret(
  hermes: Hermes,
  route: DraftRoute,
  value: unknown,
  { hasSecret, loopback }: ServerFacts,
): void {
  const path = [...route.path, 'secret'];
  const { variables, newSecret } = hermes.draft;
  const variable = variableName(route.name, 'secret');
  if (value === INSECURE && loopback) {
    route.settings.secret = INSECURE;
    const reason = 'the route accepts requests from anyone on this machine';
    route.report.changed(path, reason, 'Give the route a secret before other machines can reach it');
    return;
  }
  const secret = value === INSECURE ? null : secretFrom(hermes, value, { path, report: route.report, variable });
  if (secret !== null) route.settings.secret = secret;
  else if (value !== undefined || !hasSecret) {
    const instead = `Give the sender the new one, ${variable} in .env, then remove \`enabled: false\``;
    closeRoute(route, path, value === INSECURE ? 'the route was unprotected' : 'the route has no secret', instead);
    route.settings.secret = `env:${variable}`;
    variables.set(variable, newSecret());
  }
}

function convertScript({ route, path, value }: KeyContext): void {
  if (typeof value !== 'string' || value.trim() === '') return;
  const script = value.trim().replace(/^(?:~|\$HOME)\/\.hermes\/scripts\//, '');
  route.settings.script = script;
  const reason = "scripts are below hookwright's home, and `__hermes_ignore__` is `__hookwright_ignore__`";
  route.report.changed(path, reason, 'Copy it: cp ~/.hermes/scripts/<script> ~/.hookwright/scripts/');
}

function convertDeliver({ route, path, value }: KeyContext): void {
  const name = String(value ?? '')
    .trim()
    .toLowerCase();
  if (name === '') route.report.carried(path);
  else if (Object.hasOwn(PLATFORMS, name) || PLAIN_TARGETS.has(name)) {
    route.settings.deliver = name;
    route.report.carried(path);
  } else {
    const reason = 'no target reaches this platform as Hermes Agent does';
    closeRoute(route, path, reason, 'Choose one of docs/targets.md, then remove `enabled: false`');
  }
}

/** In the original's order of precedence: it uses only the first one that is present. */
const GROUPS = ['all', 'any', 'not'] as const;
const OPERATORS = ['exists', 'missing', 'equals', 'not_equals', 'contains', 'in', 'in_file', 'regex'] as const;

/** Deeper filters are left unchanged, and the compiler rejects them. */
const MAX_DEPTH = 100;

/** Converts the filters of a Hermes Agent route, which differ in paths and in the meaning of several operators in one filter. */
function convertFilter(filter: unknown, path: NodePath, report: KeyReport, depth = 0): unknown {
  if (Array.isArray(filter)) return filter.map((item, at) => convertFilter(item, [...path, at], report, depth + 1));
  if (!isPlainMap(filter) || depth > MAX_DEPTH) return filter;
  const group = GROUPS.find((name) => Object.hasOwn(filter, name));
  if (group !== undefined) {
    noteOthers(filter, [group], path, report);
    return { [group]: convertFilter(filter[group], [...path, group], report, depth + 1) };
  }
  // The original ignores `missing: false`.
  const operator = OPERATORS.find(
    (name) => Object.hasOwn(filter, name) && (name !== 'missing' || filter[name] === true),
  );
  if (operator === undefined) return filter;
  noteOthers(filter, ['field', operator], path, report);
  const read = operator === 'in_file' ? filePath : exactly;
  const value = read(filter[operator], [...path, operator], report);
  return { ...(filter.field === undefined ? {} : { field: filter.field }), [operator]: value };
}

/** A number with more digits than JavaScript keeps is text when it is read. */
function exactly(value: unknown, path: NodePath, report: KeyReport): unknown {
  if (Array.isArray(value)) return value.map((item, at) => exactly(item, [...path, at], report));
  return typeof value === 'string' && /^-?\d{16,}$/.test(value) && report.written(path) === value
    ? BigInt(value)
    : value;
}

function noteOthers(filter: object, used: readonly string[], path: NodePath, report: KeyReport): void {
  for (const key of Object.keys(filter))
    if (!used.includes(key))
      report.changed([...path, key], `Hermes Agent ignores this key next to \`${used.at(-1)}\``, 'The key is left out');
}

/** Relative paths are relative to the original's home folder. */
function filePath(value: unknown, path: NodePath, report: KeyReport): unknown {
  if (typeof value !== 'string' || value.startsWith('/') || value.startsWith('~')) return value;
  const moved = `~/.hermes/${value}`;
  report.changed(path, `relative paths start at hookwright's home: this path is now ${moved}`);
  return moved;
}
