/** Lowers `platforms.<target>` of a profile to a binding: how the profile uses the target, with which credentials. */
import type {
  SecretRef,
  SettingPlan,
  TargetBinding,
  TargetConfig,
  TargetPlan,
  VariantPlan,
} from '../../schemas/generated/types.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { parseSecretRef, secretRefProblem } from '../text/secret-ref.ts';
import { didYouMean, oneOf } from '../text/suggest.ts';
import type { WrittenSetting } from './match-settings.ts';
import { matchSettings } from './match-settings.ts';
import { missingSettings } from './missing-settings.ts';
import { fullMatch } from './target/scope.ts';

export interface BindingScope {
  /** The profile whose environment resolves the references. */
  readonly profile: string;
  /** `gateway.max_attempts`. */
  readonly max_attempts: number;
}

/**
 * Paths of problems are relative to the entry under `platforms`. A disabled target has no binding, but its keys are
 * checked.
 */
export function lowerBinding(config: TargetConfig, plan: TargetPlan, scope: BindingScope): Lowered<TargetBinding> {
  const matched = matchSettings(config, plan);
  const { known } = matched;
  const read = readSettings(known, scope);
  const problems = [...matched.problems, ...read.problems];
  if (config.enabled !== true) return { plan: null, problems };
  const present = new Set(known.map(({ setting }) => setting.name));
  for (const { name, default: usual } of plan.settings) if (usual !== null) present.add(name);
  const { candidates, variant, problems: ofVariant } = chooseVariant(config, plan, present);
  const common = readCommon(config, scope);
  const api = known.find(({ setting }) => setting.name === 'api_base');
  const base = config.api_base ?? (api === undefined ? undefined : String(api.value));
  if (base !== undefined) common.place('api_base', base);
  problems.push(...ofVariant, ...missingSettings({ plan, present, candidates, variant, base }));
  if (problems.length > 0) return { plan: null, problems };
  return {
    plan: {
      variant: variant?.name ?? null,
      home_channel: common.plain.home_channel ?? null,
      api_base: common.plain.api_base ?? null,
      allow_http: config.allow_http ?? false,
      credentials: { ...read.credentials, ...common.references },
      options: read.options,
      retry_ambiguous: config.retry_ambiguous ?? false,
      max_attempts: config.max_attempts ?? scope.max_attempts,
    },
    problems,
  };
}

interface ReadSettings {
  readonly credentials: Record<string, SecretRef>;
  readonly options: TargetBinding['options'];
  readonly problems: Problem[];
}

/** Secrets and references become credentials, which are resolved when the table is loaded; other settings are options. */
function readSettings(known: readonly WrittenSetting[], { profile }: BindingScope): ReadSettings {
  const read: ReadSettings = { credentials: {}, options: {}, problems: [] };
  for (const { key, setting, value } of known) {
    if (setting.name === 'api_base') continue;
    const ref = parseSecretRef(String(value), profile);
    const why = value === '' ? 'it is empty' : (secretRefProblem(ref) ?? misfit(setting, ref));
    if (why !== null) {
      const rule = ref.kind === 'literal' ? 'invalid-value' : 'secret-reference';
      read.problems.push({ rule, path: [key], at: 'value', message: `\`${key}\`: ${why}` });
    }
    if (setting.secret || ref.kind !== 'literal') read.credentials[setting.name] = ref;
    else read.options[setting.name] = value;
  }
  return read;
}

/** Returns why a literal does not match the setting's pattern, or null. Does not repeat secrets. */
function misfit(setting: SettingPlan, ref: SecretRef): string | null {
  if (ref.kind !== 'literal' || setting.pattern === null || fullMatch(setting.pattern, ref.value)) return null;
  const shown = setting.secret ? 'the value' : JSON.stringify(ref.value);
  return `${shown} does not have the form ${setting.pattern}`;
}

interface ChosenVariant {
  readonly candidates: readonly VariantPlan[];
  /** Undefined if every candidate lacks a required setting. */
  readonly variant: VariantPlan | undefined;
  readonly problems: readonly Problem[];
}

/** Chooses the named variant, else the first whose required settings are all present. */
function chooseVariant({ variant }: TargetConfig, plan: TargetPlan, present: ReadonlySet<string>): ChosenVariant {
  const names = plan.variants.map(({ name }) => name);
  if (variant !== undefined && !names.includes(variant)) {
    const known = names.length === 0 ? 'it has no variants' : `the variants are ${oneOf(names, 'and')}`;
    const message = `${plan.title} has no variant \`${variant}\`; ${known}${didYouMean(variant, names)}`;
    const problem: Problem = { rule: 'invalid-value', path: ['variant'], at: 'value', message };
    return { candidates: [], variant: undefined, problems: [problem] };
  }
  const candidates = plan.variants.filter(({ name }) => variant === undefined || name === variant);
  const usable = candidates.find(
    ({ needs, unless = [] }) => needs.every((name) => present.has(name)) && !unless.some((name) => present.has(name)),
  );
  return { candidates, variant: usable, problems: [] };
}

/** Literals of home channel and base URL become plain text in the binding, references become credentials. */
function readCommon(config: TargetConfig, { profile }: BindingScope) {
  const plain: { home_channel?: string; api_base?: string } = {};
  const references: Record<string, SecretRef> = {};
  const place = (name: keyof typeof plain, text: string): void => {
    const ref = parseSecretRef(text, profile);
    if (ref.kind === 'literal') plain[name] = text;
    else references[name] = ref;
  };
  if (config.home_channel !== undefined) place('home_channel', String(config.home_channel));
  return { plain, references, place };
}
