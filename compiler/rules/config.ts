/** Rules about the settings of gateway, console, agents and their programs. */

import { DEFAULT_PROFILE } from '../../base/names.ts';
import { credentialsIn, isLoopback, isPostgresUrl, isWildcard, parseBaseUrl } from '../../base/net.ts';
import type { TargetBinding, TargetConfig, TargetPlan, ValueTemplate } from '../../schemas/generated/types.ts';
import { gatewaySecrets } from '../config/agents.ts';
import { targetNamed } from '../config/route-keys.ts';
import { HTTP_TARGET, targetEntries } from '../config/target-entries.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import { holdsCredential } from '../diagnostics/printable.ts';
import { isTimeZone, similarZones, timeZones } from '../schedule/parse-schedule.ts';
import { argvOf, flowText, needsShell, originOf } from '../text/plain-data.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import { didYouMean, oneOf, renameFix } from '../text/suggest.ts';
import type { ConfigView, Reported, Reporter } from '../views/views.ts';
import { codeArguments } from './support/code-arguments.ts';
import { rule } from './support/rule.ts';

/** An agent with both a command and an API. */
export const agentChoice = rule('agent-choice', {
  agent({ agent: { path, config } }, report) {
    // Not expanded: what is wrong with it is reported.
    if (config.use !== undefined) return;
    if (config.command === undefined) {
      for (const name of ['env', 'cwd', 'work', 'sandbox', 'answer_path', 'usage_paths'] as const) {
        const message = `\`${name}\` needs a \`command\``;
        if (config[name] !== undefined) report({ path: [...path, name], at: 'key', message });
      }
      return;
    }
    if (config.openai === undefined) return;
    const message = '`command` and `openai` exclude each other; keep one of them';
    const related = [{ path: [...path, 'openai'], message: 'the other key is here' }];
    report({ path: [...path, 'command'], at: 'key', message, related });
  },
});

/** Several arguments in one entry of the agent's command. */
export const agentCommand = rule('agent-command', {
  agent: ({ agent: { path, config } }, report) => checkCommand(config.command ?? [], [...path, 'command'], report),
});

function checkCommand(command: readonly string[], path: NodePath, report: Reporter): void {
  const piped = command.findIndex((entry, index) => isPiped(entry, command.slice(0, index)));
  const index = command.findIndex(isRunTogether);
  if (index < 0 && piped < 0) return;
  const message = 'each argument must be a separate entry, because no shell splits them';
  const isUnclear = (entry: string, place: number): boolean =>
    needsShell(entry) || holdsCredential(entry) || (place > 0 && TWO_WORDS.test(entry));
  if (piped >= 0 || command.some((entry, place) => isRunTogether(entry, place) && isUnclear(entry, place))) {
    const at = { path: [...path, piped >= 0 ? piped : index], at: 'value' } as const;
    const what = piped >= 0 ? 'no shell reads this: it is an argument of the program, like the others' : message;
    report({ ...at, message: what, hint: 'write one entry for each argument, or `[sh, -c, "…"]` if you need a shell' });
    return;
  }
  const argv = command.flatMap((entry, place) => (isRunTogether(entry, place) ? argvOf(entry) : [entry]));
  report({
    path: [...path, index],
    at: 'value',
    message: `${message}: write \`command: ${flowText(argv)}\``,
    fix: { kind: 'flow', text: flowText(argv) },
    fixAt: path,
  });
}

/** The path of a program may contain a space, unless an option follows. The name of an option contains none. */
const isRunTogether = (entry: string, index: number): boolean =>
  index === 0 ? /^[^\s/\\]+\s+\S|\s-{1,2}\w/.test(entry.trim()) : /^(?:--[a-z][\w-]*|-[A-Za-z])\s+\S/.test(entry);

/** After an option: they may be one text. */
const TWO_WORDS = /\s[^-\s]\S*\s+[^-\s]/;

const OPERATOR = '(?:\\|\\|?|&&?|\\d?>>?|<|2>&1)';
/** An operator of a shell; or one between plain words, which may be meant after an option. */
const ALONE = new RegExp(`^${OPERATOR}$`);
const PIPED = new RegExp(`^[\\w./-]+(?: [\\w./-]+)* ${OPERATOR} ?[A-Za-z/~][\\w./-]*(?: [\\w./-]+)*$`);
const isPiped = (entry: string, before: readonly string[]): boolean =>
  before.length > 0 && (ALONE.test(entry) || (!before.at(-1)?.startsWith('-') && PIPED.test(entry)));

/** A console on the address of the webhook server. */
export const consolePort = rule('console-port', {
  config({ config, server, scope }, report) {
    const { console } = scope.table.gateway;
    if (console === null || console.port === 0 || console.port !== server.port) return;
    if (!overlap(console.host, server.host)) return;
    const path = ['gateway', 'console', ...(config.gateway?.console?.port === undefined ? [] : ['port'])];
    const message = `the webhook server, which senders reach, already listens on port ${server.port}`;
    report({ path, at: 'value', message, hint: 'give the console another port' });
  },
});

/** Whether two servers conflict on one port. `0.0.0.0` does not include IPv6. */
const overlap = (one: string, other: string): boolean =>
  one === other || [[one, other] as const, [other, one] as const].some(([all, each]) => covers(all, each));

const covers = (all: string, each: string): boolean => isWildcard(all) && (all !== '0.0.0.0' || !/^[^.]*:/.test(each));

const NO_TOKEN = {
  message: 'without `token`, every program of this machine can use the console, and `viewer_token` has no effect',
  hint: 'add `token: env:CONSOLE_TOKEN`',
};

/** A console without a token that other machines can reach, or with a token that two people or roles share. */
export const consoleWithoutToken = rule('console-without-token', {
  config({ config }, report) {
    const { host, viewer_token } = config.gateway?.console ?? {};
    const tokens = gatewaySecrets(config.gateway).filter(({ path }) => path[1] === 'console');
    const isOpen = tokens.every(({ path }) => path[2] === 'viewer_token');
    if (viewer_token !== undefined && isOpen)
      report({ path: ['gateway', 'console', 'viewer_token'], at: 'value', ...NO_TOKEN });
    for (const [at, { path, text }] of tokens.entries()) {
      const same = tokens.slice(0, at).find((earlier) => earlier.text === text);
      const hint = 'give each person and each role another token';
      if (same === undefined) continue;
      const message = `\`${nameIn(path)}\` equals \`${nameIn(same.path)}\`, so that nobody can tell them apart`;
      report({ path, at: 'value', message, hint, related: [{ path: same.path, message: 'the other one' }] });
    }
    if (host === undefined || !isOpen || isLoopback(host)) return;
    const message = `the console would be open to anyone who can reach \`${host}\``;
    const hint = 'add `token: env:CONSOLE_TOKEN`, which Prometheus sends as `authorization`, or bind 127.0.0.1';
    report({ path: ['gateway', 'console', 'host'], at: 'value', message, hint });
  },
});

const nameIn = (path: readonly string[]): string => path.slice(2).join('.');

/** A time zone that does not exist. */
export const invalidTimezone = rule('invalid-timezone', {
  config({ config }, report) {
    checkZone(config.gateway?.timezone, ['gateway', 'timezone'], report);
  },
  job({ config }, report) {
    checkZone(config.timezone, ['timezone'], report);
  },
});

function checkZone(zone: string | undefined, path: NodePath, report: Reporter): void {
  if (zone === undefined || isTimeZone(zone)) return;
  const similar = similarZones(zone);
  if (similar.length > 0) {
    const message = `\`${zone}\` is not an IANA time zone: write, for example, ${oneOf(similar)}`;
    report({ path, at: 'value', message });
    return;
  }
  const message = `\`${zone}\` is not a time zone${didYouMean(zone, timeZones())}`;
  const hint = 'use an IANA name: `Europe/Berlin`, `America/New_York`, `UTC`';
  report({ path, at: 'value', message, hint, ...renameFix(zone, timeZones()) });
}

/** A setting that a variable overrides. */
export const overriddenSetting = rule('overridden-setting', {
  config(view, report) {
    checkSecret(view, report);
    checkPlain(view, report);
  },
});

const HINT = 'remove the variable or the key';

function checkSecret({ settings, overrides, variables }: ConfigView, report: Reporter): void {
  const { secret } = settings.values;
  const path = settings.pathOf('secret');
  const variable = 'WEBHOOK_SECRET';
  if (!overrides.secret || path === null || secret === `env:${variable}`) return;
  if (secret === variables.get(variable)?.value) return;
  const message = `\`${variable}\`${originOf(variable, variables)} replaces this secret`;
  report({ path, at: 'value', message, hint: HINT, sensitive: true });
}

function checkPlain({ config, settings, overrides, variables }: ConfigView, report: Reporter): void {
  const written = [
    ['WEBHOOK_HOST', overrides.host, settings.values.host, settings.pathOf('host')],
    ['WEBHOOK_PORT', overrides.port, settings.values.port, settings.pathOf('port')],
    ['WEBHOOK_ENABLED', overrides.enabled, config.platforms?.webhook?.enabled, ['platforms', 'webhook', 'enabled']],
  ] as const;
  for (const [variable, used, here, path] of written) {
    // `webhook-disabled` reports a disabled server. A command-line flag overrides both and is intended.
    if (used === null || used === false || here === undefined || path === null || used === here) continue;
    if (!setsSetting(variable, used, variables)) continue;
    const message = `\`${variable}\`${originOf(variable, variables)} replaces \`${String(path.at(-1))}: ${here}\` by \`${used}\``;
    report({ path, at: 'value', message, hint: HINT });
  }
}

const setsSetting = (
  variable: string,
  used: string | number | boolean,
  variables: ConfigView['variables'],
): boolean => {
  const value = variables.get(variable)?.value;
  return value !== undefined && (typeof used === 'boolean' || String(used) === value || Number(value) === used);
};

/** A setting that `extra` overrides (§2.1). */
export const shadowedSetting = rule('shadowed-setting', {
  config({ settings }, report) {
    for (const { path, by } of settings.shadowed) {
      const message = `\`${String(path.at(-1))}\` has no effect: \`extra\` also sets it and takes precedence`;
      report({ path, at: 'key', message, related: [{ path: by, message: 'this one counts' }] });
    }
  },
});

/** A placeholder in code, whose value would be executed. */
export const shellPlaceholder = rule('shell-placeholder', {
  agent({ agent: { path, config } }, report) {
    const { command = [] } = config;
    for (const { index, program, interpreter } of codeArguments(command)) {
      for (const match of (command[index] ?? '').matchAll(PLACEHOLDER)) {
        const within = { offset: match.index, length: match[0].length };
        const message = `\`${program}\` reads this argument as code, and \`${match[0]}\` would become part of it`;
        const hint = `use ${interpreter.variable.replace('NAME', `HOOKWRIGHT_${match[1]?.toUpperCase()}`)} there`;
        report({ path: [...path, 'command', index], at: 'value', within, message, hint });
      }
    }
  },
});

/** The placeholders of `agent.command`. */
const PLACEHOLDER = /\{(toolsets|session|route|profile|outputs_mcp)\}/g;

/** A store URL that is not a PostgreSQL URL. */
export const storeUrl = rule('store-url', {
  config({ config }, report) {
    const store = config.gateway?.store;
    if (typeof store !== 'object') return;
    const { kind, value } = parseSecretRef(store.postgres, DEFAULT_PROFILE);
    if (kind !== 'literal' || isPostgresUrl(value)) return;
    const message = 'this is not a PostgreSQL URL';
    const hint = 'write `env:DATABASE_URL`, and keep `postgres://user:password@host/database` in that variable';
    report({ path: ['gateway', 'store', 'postgres'], at: 'value', message, hint, sensitive: true });
  },
});

/** A URL that exposes credentials. */
export const unsafeUrl = rule('unsafe-url', {
  route({ config }, report) {
    checkPublicUrl(config.public_url, report);
  },
  config({ config }, report) {
    checkPublicUrl(config.public_url, report);
    checkHeartbeat(config.gateway?.heartbeat?.url, report);
  },
  agent({ agent: { path, config } }, report) {
    if (config.openai === undefined) return;
    const { base_url: text, allow_http } = config.openai;
    const message = parseBaseUrl(text, { allowHttp: allow_http === true, secret: false });
    if (typeof message === 'string')
      report(rejected([...path, 'openai', 'base_url'], { text, message, secret: false }));
  },
  profile({ name, config, scope }, report) {
    const { targets, target_names, profiles } = scope.table;
    for (const [written, entry] of targetEntries(config)) {
      const target = targetNamed(target_names, written);
      const plan = target === null ? undefined : targets[target];
      // The lowering of `platforms.http` reports problems of its URL.
      if (plan === undefined || plan.name === HTTP_TARGET) continue;
      const path = ['platforms', written];
      const own = unsafeSettings(entry, plan, path);
      own.forEach(report);
      if (own.length === 0) checkBases({ plan, binding: profiles[name]?.targets[plan.name], path }, report);
    }
  },
});

/** Nothing is sent to the public URL, so only credentials in it are a problem. */
function checkPublicUrl(text: string | undefined, report: Reporter): void {
  if (text === undefined || !URL.canParse(text)) return;
  const message = credentialsIn(new URL(text), { secret: false });
  if (message !== null) report(rejected(['public_url'], { text, message, secret: false }));
}

/** The URL itself is the secret and no credentials are sent, so plain HTTP is allowed. */
function checkHeartbeat(text: string | undefined, report: Reporter): void {
  if (text === undefined || parseSecretRef(text, '').kind !== 'literal') return;
  const message = parseBaseUrl(text, { allowHttp: true, secret: true });
  if (typeof message === 'string')
    report({ path: ['gateway', 'heartbeat', 'url'], at: 'value', message, sensitive: true });
}

function unsafeSettings(entry: TargetConfig, plan: TargetPlan, path: NodePath): readonly Reported[] {
  return Object.entries(entry).flatMap(([key, value]): readonly Reported[] => {
    const setting = plan.settings.find(({ name, aliases }) => name === key || aliases.includes(key));
    const isBase = key === 'api_base' || setting?.name === 'api_base';
    if (typeof value !== 'string' || parseSecretRef(value, '').kind !== 'literal') return [];
    if (!isBase && !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return [];
    const options = { allowHttp: entry.allow_http === true, secret: setting?.secret === true };
    const baseUrl = parseBaseUrl(value, options);
    if (typeof baseUrl !== 'string') return [];
    return [rejected([...path, key], { text: value, message: baseUrl, secret: options.secret })];
  });
}

interface BoundPlan {
  readonly plan: TargetPlan;
  readonly binding: TargetBinding | undefined;
  readonly path: NodePath;
}

/** Checks the target's own URLs: those of the service and of its token server. */
function checkBases({ plan, binding, path }: BoundPlan, report: Reporter): void {
  if (binding === undefined || binding.api_base !== null || Object.hasOwn(binding.credentials, 'api_base')) return;
  const variants = plan.variants.filter(({ name }) => binding.variant === null || name === binding.variant);
  const bases = variants.flatMap(({ base, exchange }) => [base, exchange?.base ?? null]).map(literalText);
  for (const text of bases) {
    const baseUrl = text === null ? null : parseBaseUrl(text, { allowHttp: binding.allow_http, secret: false });
    if (typeof baseUrl !== 'string') continue;
    report({ path, at: 'key', message: `in the catalog entry of ${plan.title}, ${baseUrl}` });
  }
}

/** Returns null if the template contains a setting. */
function literalText(template: ValueTemplate | null): string | null {
  if (template === null) return null;
  const texts = template.map((part) => (part.kind === 'text' ? part.text : null));
  return texts.includes(null) ? null : texts.join('');
}

interface RejectedUrl {
  readonly text: string;
  readonly message: string;
  /** The whole URL is a secret. */
  readonly secret: boolean;
}

function rejected(path: NodePath, { text, message, secret }: RejectedUrl): Reported {
  const hint = 'credentials have separate settings, which accept references: `env:NAME`, `file:path`';
  const hasCredential = URL.canParse(text) && credentialsIn(new URL(text), { secret }) === message;
  return { path, at: 'value', message, ...(hasCredential ? { hint, sensitive: true } : {}) };
}

/** Routes that are not served. */
export const webhookDisabled = rule('webhook-disabled', {
  config({ server, settings, overrides, invalidNames }, report) {
    if (server.enabled || invalidNames.has('setting:enabled') || settings.routes.length === 0) return;
    const path = ['platforms', 'webhook', 'enabled'];
    const off = overrides.enabled === false ? ' by WEBHOOK_ENABLED' : '';
    const message = `the webhook server is disabled${off}: no route is served`;
    const hint = 'set `platforms.webhook.enabled: true`, or WEBHOOK_ENABLED=true';
    report({ path, at: 'value', message, hint });
  },
});
