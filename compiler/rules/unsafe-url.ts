/** A URL that exposes credentials. */

import { credentialsIn, parseBaseUrl } from '../../base/base-url.ts';
import type {
  ProfileConfig,
  TargetBinding,
  TargetConfig,
  TargetPlan,
  ValueTemplate,
} from '../../schemas/generated/types.ts';
import { targetNamed } from '../config/deliveries.ts';
import { targetEntries } from '../config/target-entries.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unsafeUrl = {
  id: 'unsafe-url',
  checkRoute({ config }): readonly Problem[] {
    return publicUrlProblems('unsafe-url', config.public_url, ['public_url']);
  },
  checkConfig({ config }): readonly Problem[] {
    return publicUrlProblems('unsafe-url', config.public_url, ['public_url']);
  },
  checkProfile({ name, config, scope }): readonly Problem[] {
    const { targets, target_names, profiles } = scope.table;
    const entries = targetEntries(config).flatMap(([written, entry]): readonly Problem[] => {
      const target = targetNamed(target_names, written);
      const plan = target === null ? undefined : targets[target];
      if (plan === undefined) return [];
      const binding = profiles[name]?.targets[plan.name];
      const own = settingProblems('unsafe-url', entry, plan, ['platforms', written]);
      return own.length > 0 ? own : baseProblems('unsafe-url', { plan, binding, path: ['platforms', written] });
    });
    return [...agentProblems('unsafe-url', config), ...entries];
  },
} as const satisfies ViewRule;

/** Nothing is sent to the public URL, so only credentials in it are a problem. */
function publicUrlProblems(rule: RuleId, text: string | undefined, path: NodePath): readonly Problem[] {
  if (text === undefined || !URL.canParse(text)) return [];
  const message = credentialsIn(new URL(text), { secret: false });
  return message === null ? [] : [urlProblem(rule, path, { text, message, secret: false })];
}

function agentProblems(rule: RuleId, { agent }: ProfileConfig): readonly Problem[] {
  if (agent?.openai === undefined) return [];
  const { base_url, allow_http } = agent.openai;
  const found = parseBaseUrl(base_url, { allowHttp: allow_http === true, secret: false });
  if (typeof found !== 'string') return [];
  return [urlProblem(rule, ['agent', 'openai', 'base_url'], { text: base_url, message: found, secret: false })];
}

/** Checks all settings that are URLs. References are checked when they are resolved. */
function settingProblems(rule: RuleId, entry: TargetConfig, plan: TargetPlan, path: NodePath): readonly Problem[] {
  return Object.entries(entry).flatMap(([key, value]): readonly Problem[] => {
    const setting = plan.settings.find(({ name, aliases }) => name === key || aliases.includes(key));
    const isBase = key === 'api_base' || setting?.name === 'api_base';
    if (typeof value !== 'string' || parseSecretRef(value, '').kind !== 'literal') return [];
    if (!isBase && !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return [];
    const options = { allowHttp: entry.allow_http === true, secret: setting?.secret === true };
    const found = parseBaseUrl(value, options);
    if (typeof found !== 'string') return [];
    return [urlProblem(rule, [...path, key], { text: value, message: found, secret: options.secret })];
  });
}

interface BoundPlan {
  readonly plan: TargetPlan;
  readonly binding: TargetBinding | undefined;
  readonly path: NodePath;
}

/** Checks the target's own URLs: those of the service and of its token server. */
function baseProblems(rule: RuleId, { plan, binding, path }: BoundPlan): readonly Problem[] {
  if (binding === undefined || binding.api_base !== null || Object.hasOwn(binding.credentials, 'api_base')) return [];
  const variants = plan.variants.filter(({ name }) => binding.variant === null || name === binding.variant);
  const bases = variants.flatMap(({ base, exchange }) => [base, exchange?.base ?? null]).map(literalText);
  return bases.flatMap((text): readonly Problem[] => {
    const found = text === null ? null : parseBaseUrl(text, { allowHttp: binding.allow_http, secret: false });
    if (typeof found !== 'string') return [];
    return [{ rule, path, at: 'key', message: `in the catalog's entry of ${plan.title}, ${found}` }];
  });
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

function urlProblem(rule: RuleId, path: NodePath, { text, message, secret }: RejectedUrl): Problem {
  const hint = 'credentials have separate settings, which accept references: `env:NAME`, `file:path`';
  const hasCredential = URL.canParse(text) && credentialsIn(new URL(text), { secret }) === message;
  return { rule, path, at: 'value', message, ...(hasCredential ? { hint, sensitive: true } : {}) };
}
