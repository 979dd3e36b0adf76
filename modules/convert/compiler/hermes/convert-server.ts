/** Converts the webhook server's settings, the toolsets and the agent of a Hermes Agent config. */
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import type { Settings } from '../draft.ts';
import { webhookOf } from '../draft.ts';
import type { Hermes } from './hermes-value.ts';
import { INSECURE, mapAt, secretFrom, variableFrom } from './hermes-value.ts';

const NUMBERS = ['port', 'rate_limit', 'max_body_bytes', 'script_timeout_seconds'];
const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

export interface ServerFacts {
  /** There is a default secret for routes without one. */
  readonly hasSecret: boolean;
  readonly loopback: boolean;
  readonly hasHost: boolean;
}

/** Settings are under `webhook` or its `extra`, which takes precedence. */
export function convertServer(hermes: Hermes): ServerFacts {
  const { draft, config } = hermes;
  const webhook = webhookOf(draft);
  const facts = { hasSecret: false, loopback: false, hasHost: false };
  const direct = mapAt(config, 'platforms', 'webhook');
  const extra = mapAt(direct, 'extra');
  const base = ['platforms', 'webhook'];
  for (const key of new Set([...Object.keys(direct), ...Object.keys(extra)])) {
    if (key === 'extra' || key === 'routes') continue;
    const path = Object.hasOwn(extra, key) ? [...base, 'extra', key] : [...base, key];
    const value = Object.hasOwn(extra, key) ? extra[key] : direct[key];
    if (key === 'secret') facts.hasSecret = globalSecret(hermes, webhook, path, value);
    else if (key === 'host') Object.assign(facts, { loopback: host(hermes, webhook, path, value), hasHost: true });
    else plainSetting(hermes, webhook, path, value);
  }
  for (const key of Object.keys(mapAt(config, 'webhooks')))
    if (key !== 'routes') draft.report.lost(['webhooks', key], 'settings of the server are under platforms.webhook');
  if (!facts.hasSecret && hermes.env.has('WEBHOOK_SECRET')) {
    webhook.secret = variableFrom(hermes, 'WEBHOOK_SECRET');
    facts.hasSecret = true;
  }
  return facts;
}

function globalSecret(hermes: Hermes, webhook: Settings, path: NodePath, value: unknown): boolean {
  if (value === INSECURE) {
    // Each route states whether it may be unauthenticated.
    hermes.draft.report.lost(path, 'there is no default secret for routes');
    return false;
  }
  const secret = secretFrom(hermes, value, { path, report: hermes.draft.report, variable: 'WEBHOOK_SECRET' });
  if (secret !== null) webhook.secret = secret;
  return secret !== null;
}

function host({ draft }: Hermes, webhook: Settings, path: NodePath, value: unknown): boolean {
  if (typeof value !== 'string' || value.trim() === '') {
    const reason = 'hookwright listens on 127.0.0.1, not on every address';
    draft.report.changed(path, reason, 'Put a proxy in front of it, or set `host`');
    return false;
  }
  webhook.host = value.trim();
  draft.report.carried(path);
  return LOOPBACK.includes(value.trim());
}

function plainSetting({ draft }: Hermes, webhook: Settings, path: NodePath, value: unknown): void {
  const key = String(path.at(-1));
  const number = Number(value);
  if (key === 'enabled') {
    webhook.enabled = value !== false && value !== 'false';
    draft.report.carried(path);
  } else if (NUMBERS.includes(key) && Number.isFinite(number) && value !== null && value !== '') {
    webhook[key] = number;
    draft.report.carried(path);
  } else draft.report.lost(path, 'hookwright has no such setting');
}

const STAYS = [
  'the section configures the agent, not the gateway',
  'Keep it in the config of Hermes Agent, which `agent.command` runs',
] as const;

/** Converts the sections besides `platforms`. The agent keeps running with its own config, so its settings are not converted. */
export function convertSections(hermes: Hermes): void {
  const { draft, config } = hermes;
  const { report } = draft;
  for (const key of Object.keys(config))
    if (!['platforms', 'gateway', 'platform_toolsets', 'webhooks'].includes(key)) report.changed([key], ...STAYS);
  const { multiplex_profiles: multiplex, ...others } = mapAt(config, 'gateway');
  if (multiplex !== undefined) report.carried(['gateway', 'multiplex_profiles']);
  if (multiplex === true) draft.config.gateway = { multiplex_profiles: true };
  for (const key of Object.keys(others)) report.changed(['gateway', key], ...STAYS);
  for (const key of Object.keys(mapAt(config, 'platform_toolsets')))
    if (key !== 'webhook') report.changed(['platform_toolsets', key], ...STAYS);
}

/** The original's default toolsets of webhook runs, as far as they have the same names in hookwright. */
const USUAL_TOOLSETS = ['web', 'clarify'];

/** Configures Hermes Agent as the agent: it reads a prompt from stdin and prints its answer. */
export function convertAgent({ draft, config }: Hermes): void {
  const path = ['platform_toolsets', 'webhook'];
  const { webhook } = mapAt(config, 'platform_toolsets');
  const isList = Array.isArray(webhook) && webhook.every((name) => typeof name === 'string');
  const own = isList ? webhook.filter((name) => name !== 'hermes-webhook') : [];
  if (webhook !== undefined && own.length > 0 && !isPlainMap(webhook)) draft.report.carried(path);
  else if (webhook !== undefined)
    draft.report.changed(path, `the toolset becomes ${USUAL_TOOLSETS.join(', ')}, which both programs have`);
  draft.config.platform_toolsets = { webhook: own.length > 0 ? own : USUAL_TOOLSETS };
  draft.config.agent = {
    command: ['hermes', 'chat', '--quiet', '--query-file', '-', '--toolsets', '{toolsets}'],
    timeout_seconds: 900,
  };
}
