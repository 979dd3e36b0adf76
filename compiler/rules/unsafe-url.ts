/** A URL that exposes credentials. */

import { credentialsIn, parseBaseUrl } from '../../base/base-url.ts';
import type {
  ProfileConfig,
  TargetBinding,
  TargetConfig,
  TargetPlan,
  ValueTemplate,
} from '../../schemas/generated/types.ts';
import { writtenAgents } from '../config/agents.ts';
import { targetNamed } from '../config/deliveries.ts';
import { HTTP_TARGET, targetEntries } from '../config/target-entries.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import type { Reported, Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const unsafeUrl = rule('unsafe-url', {
  route({ config }, report) {
    checkPublicUrl(config.public_url, report);
  },
  config({ config }, report) {
    checkPublicUrl(config.public_url, report);
    checkHeartbeat(config.gateway?.heartbeat?.url, report);
  },
  profile({ name, config, scope }, report) {
    const { targets, target_names, profiles } = scope.table;
    checkAgents(config, report);
    for (const [written, entry] of targetEntries(config)) {
      const target = targetNamed(target_names, written);
      const plan = target === null ? undefined : targets[target];
      // What is wrong with its URL is reported where it is lowered.
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

/** What is requested is a secret, and nothing is sent with it, so plain HTTP is right. */
function checkHeartbeat(text: string | undefined, report: Reporter): void {
  if (text === undefined || parseSecretRef(text, '').kind !== 'literal') return;
  const message = parseBaseUrl(text, { allowHttp: true, secret: true });
  if (typeof message === 'string')
    report({ path: ['gateway', 'heartbeat', 'url'], at: 'value', message, sensitive: true });
}

function checkAgents(config: ProfileConfig, report: Reporter): void {
  for (const { path, config: agent } of writtenAgents(config)) {
    if (agent.openai === undefined) continue;
    const { base_url, allow_http } = agent.openai;
    const found = parseBaseUrl(base_url, { allowHttp: allow_http === true, secret: false });
    if (typeof found !== 'string') continue;
    report(rejected([...path, 'openai', 'base_url'], { text: base_url, message: found, secret: false }));
  }
}

/** Checks all settings that are URLs. References are checked when they are resolved. */
function unsafeSettings(entry: TargetConfig, plan: TargetPlan, path: NodePath): readonly Reported[] {
  return Object.entries(entry).flatMap(([key, value]): readonly Reported[] => {
    const setting = plan.settings.find(({ name, aliases }) => name === key || aliases.includes(key));
    const isBase = key === 'api_base' || setting?.name === 'api_base';
    if (typeof value !== 'string' || parseSecretRef(value, '').kind !== 'literal') return [];
    if (!isBase && !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return [];
    const options = { allowHttp: entry.allow_http === true, secret: setting?.secret === true };
    const found = parseBaseUrl(value, options);
    if (typeof found !== 'string') return [];
    return [rejected([...path, key], { text: value, message: found, secret: options.secret })];
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
    const found = text === null ? null : parseBaseUrl(text, { allowHttp: binding.allow_http, secret: false });
    if (typeof found !== 'string') continue;
    report({ path, at: 'key', message: `in the catalog's entry of ${plan.title}, ${found}` });
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
