/** Converts one route of a Hermes Agent config, key by key. */
import type { NodePath } from '../../../../compiler/diagnostics/problem.ts';
import type { DraftRoute, Settings } from '../draft.ts';
import { closeRoute } from '../draft.ts';
import { variableName } from '../route-name.ts';
import { convertFilter } from './convert-filter.ts';
import type { Hermes } from './hermes-value.ts';
import { secretFrom } from './hermes-value.ts';
import { PLAIN_TARGETS, PLATFORMS } from './platforms.ts';

export const INSECURE = 'INSECURE_NO_AUTH';

/** A key of a route, with the route that it is converted into and its original path. */
interface KeyContext {
  readonly hermes: Hermes;
  readonly route: DraftRoute;
  readonly path: NodePath;
  readonly value: unknown;
}

type ConvertKey = (context: KeyContext) => void;

/** Copies the key, which has the same meaning. */
const keep: ConvertKey = ({ hermes, route, path, value }) => {
  route.settings[String(path.at(-1))] = value;
  hermes.draft.report.carried(path, route.name);
};

/** Drops an empty list or text, which means the same as no key and which the compiler rejects. */
const keepUnlessEmpty: ConvertKey = (context) => {
  const { value, hermes, route, path } = context;
  const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (isEmpty) hermes.draft.report.carried(path, route.name);
  else keep(context);
};

const lose =
  (reason: string, instead: string): ConvertKey =>
  ({ hermes, route, path }) =>
    hermes.draft.report.lost({ path, route: route.name, reason, instead });

const ONE_AGENT = lose(
  'there is one agent for all routes of a profile',
  'Set it in `agent.command`, or put the route into a profile with its own agent (docs/profiles.md)',
);

/** Drops metadata that the original's `subscribe` command added. */
const forget: ConvertKey = ({ hermes, route, path }) =>
  hermes.draft.report.changed({ path, route: route.name, reason: 'it is not kept' });

const KEYS: Readonly<Record<string, ConvertKey>> = {
  description: keepUnlessEmpty,
  enabled: keep,
  profile: ({ hermes, route, path, value }) => {
    keep({ hermes, route, path, value });
    const reason = 'in hookwright, a profile is a folder';
    hermes.draft.report.changed({ path, route: route.name, reason, instead: `hookwright profile create ${value}` });
  },
  events: (context) =>
    keepUnlessEmpty({ ...context, value: typeof context.value === 'string' ? [context.value] : context.value }),
  filters: ({ hermes, route, path, value }) => {
    const filters = convertFilter(value, path, { report: hermes.draft.report, route: route.name });
    keepUnlessEmpty({ hermes, route, path, value: filters });
  },
  script: convertScript,
  retry_on_script_failure: ({ hermes, route, path, value }) => {
    const reason = 'if a script fails, the event is answered 200, so the sender does not retry';
    const instead = 'Let the script print the payload when it cannot decide, or do its work in the agent';
    if (value === true) hermes.draft.report.lost({ path, route: route.name, reason, instead });
    else hermes.draft.report.carried(path, route.name);
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
  skills: ({ hermes, route, path, value }) => {
    keepUnlessEmpty({ hermes, route, path, value });
    if (!Array.isArray(value) || value.length === 0) return;
    const reason = "skills are read from hookwright's home";
    const instead = 'Copy each folder: cp -r ~/.hermes/skills/<name> ~/.hookwright/skills/';
    hermes.draft.report.changed({ path, route: route.name, reason, instead });
  },
  toolsets: keepUnlessEmpty,
  deliver: convertDeliver,
  deliver_extra: keepUnlessEmpty,
  deliver_only: keep,
  mirror_to_session: keep,
  coalesce: keep,
  cron_job: ({ hermes, route, path }) => {
    closeRoute(route);
    hermes.draft.report.lost({
      path,
      route: route.name,
      reason: 'the job is in the store of Hermes Agent, not in this file',
      instead: 'Create it (hookwright job create), name it here as `cron_job`, then remove `enabled: false`',
    });
  },
};

/** Fills the route's settings, except the secret; see `convertSecret`. */
export function convertRoute(hermes: Hermes, route: DraftRoute, from: Settings): void {
  for (const [key, value] of Object.entries(from)) {
    const path = [...route.path, key];
    if (key === 'secret' || key.startsWith('x-')) continue;
    const convert = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    if (convert !== undefined) convert({ hermes, route, path, value });
    else hermes.draft.report.lost({ path, route: route.name, reason: 'hookwright has no such setting' });
  }
  if (from.enabled === false || from.cron_job !== undefined) closeRoute(route);
}

/** Facts about the original server that decide how a route authenticates. */
export interface SecretFacts {
  /** The server has a default secret for routes without one. */
  readonly inherited: boolean;
  /** The server's host is a loopback address. */
  readonly loopback: boolean;
}

/** A route without authentication is closed unless only this machine can reach it, as in the original. */
export function convertSecret(hermes: Hermes, route: DraftRoute, value: unknown, facts: SecretFacts): void {
  const path = [...route.path, 'secret'];
  const { report, variables, newSecret } = hermes.draft;
  const variable = variableName(route.name, 'secret');
  if (value === INSECURE && facts.loopback) {
    route.settings.secret = INSECURE;
    const instead = 'Give it a secret before other machines can reach it';
    report.changed({
      path,
      route: route.name,
      reason: 'the route accepts requests from anyone on this machine',
      instead,
    });
    return;
  }
  const secret = value === INSECURE ? null : secretFrom(hermes, value, { path, route: route.name, variable });
  if (secret !== null) route.settings.secret = secret;
  else if (value !== undefined || !facts.inherited) {
    closeRoute(route);
    route.settings.secret = `env:${variable}`;
    variables.set(variable, newSecret());
    const instead = `Give the sender the new one, ${variable} in .env, then remove \`enabled: false\``;
    const reason = value === INSECURE ? 'it accepted requests from anyone' : 'it has no secret';
    report.lost({ path, route: route.name, reason, instead });
  }
}

function convertScript({ hermes, route, path, value }: KeyContext): void {
  if (typeof value !== 'string' || value.trim() === '') return;
  const script = value.trim().replace(/^(?:~|\$HOME)\/\.hermes\/scripts\//, '');
  route.settings.script = script;
  const reason = "scripts are below hookwright's home, and `__hermes_ignore__` is `__hookwright_ignore__`";
  const instead = 'Copy it: cp ~/.hermes/scripts/<script> ~/.hookwright/scripts/';
  hermes.draft.report.changed({ path, route: route.name, reason, instead });
}

function convertDeliver({ hermes, route, path, value }: KeyContext): void {
  const { report } = hermes.draft;
  const name = String(value ?? '')
    .trim()
    .toLowerCase();
  if (name === '') report.carried(path, route.name);
  else if (Object.hasOwn(PLATFORMS, name) || PLAIN_TARGETS.has(name)) {
    route.settings.deliver = name;
    report.carried(path, route.name);
  } else {
    closeRoute(route);
    const reason = 'no target reaches this platform the way Hermes Agent does';
    const instead = 'Choose one of docs/targets.md, then remove `enabled: false`';
    report.lost({ path, route: route.name, reason, instead });
  }
}
