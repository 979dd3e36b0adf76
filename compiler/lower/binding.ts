/** Lowers `platforms.<target>` of a profile to a binding: how the profile uses the target, with which credentials. */
import type {
  SecretRef,
  SettingPlan,
  TargetBinding,
  TargetConfig,
  TargetPlan,
  VariantPlan,
} from '../../schemas/generated/types.ts';
import { COMMON_KEYS } from '../config/target-entries.ts';
import type { Lowered, Problem } from '../diagnostics/diagnostic.ts';
import { meantField } from '../rules/support/receivers.ts';
import { parseSecretRef, secretRefProblem } from '../text/secret-ref.ts';
import { didYouMean, oneOf, renameFix } from '../text/suggest.ts';
import { fullMatch } from './target-text.ts';

interface BindingScope {
  /** The profile whose environment resolves the references. */
  readonly profile: string;
  /** Of `gateway`. */
  readonly max_attempts: number;
  readonly at_most_once: boolean;
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
      at_most_once:
        config.at_most_once ?? (config.retry_ambiguous === undefined ? scope.at_most_once : !config.retry_ambiguous),
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
    const why = value === '' ? 'it is empty' : (secretRefProblem(ref) ?? patternError(setting, ref));
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
function patternError(setting: SettingPlan, ref: SecretRef): string | null {
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

/** A setting as the config writes it. */
interface WrittenSetting {
  /** The key as written, perhaps an alias. */
  readonly key: string;
  readonly setting: SettingPlan;
  readonly value: string | number | boolean;
}

interface MatchedSettings {
  readonly known: readonly WrittenSetting[];
  readonly problems: readonly Problem[];
}

/** Matches the keys of an entry under `platforms` to the target's settings. Paths of problems are relative to the entry. */
function matchSettings(config: TargetConfig, plan: TargetPlan): MatchedSettings {
  const byName = new Map(
    plan.settings.flatMap((one) => [one.name, ...one.aliases].map((name) => [name, one] as const)),
  );
  const known: WrittenSetting[] = [];
  const problems: Problem[] = [];
  for (const [key, value] of Object.entries(config)) {
    if (COMMON_KEYS.includes(key) || value === undefined) continue;
    const setting = byName.get(key);
    const twice = setting?.name === 'api_base' && config.api_base !== undefined ? 'api_base' : undefined;
    const earlier = twice ?? known.find((one) => one.setting === setting)?.key;
    if (setting === undefined && isChat(key, plan)) {
      problems.push(homeChannel(key, config, plan));
    } else if (setting === undefined) {
      problems.push(unknownSetting(key, plan, [...COMMON_KEYS, ...byName.keys()]));
    } else if (earlier !== undefined) {
      const message = `\`${key}\` and \`${earlier}\` are two names of one setting; keep one`;
      const related = [{ path: [earlier], message: 'the other one' }];
      problems.push({ rule: 'duplicate-definition', path: [key], at: 'key', message, related });
    } else {
      known.push({ key, setting, value });
    }
  }
  return { known, problems };
}

function unknownSetting(key: string, plan: TargetPlan, known: readonly string[]): Problem {
  const problem = { rule: 'unknown-key', path: [key], at: 'key', sensitive: true } as const;
  const message = `${plan.title} has no setting \`${key}\``;
  const guess = didYouMean(key, known);
  // `webhook` for `webhook_url`
  const [longer, other] = plan.settings.map(({ name }) => name).filter((name) => name.split('_').includes(key));
  if (guess === '' && longer !== undefined && other === undefined)
    return { ...problem, message: `${message}: it is called \`${longer}\``, fix: { kind: 'rename', text: longer } };
  return { ...problem, message: message + guess, hint: listSettings(plan), ...renameFix(key, known) };
}

const isChat = (key: string, { address }: TargetPlan): boolean =>
  address.some(({ name }) => name === 'chat_id') && (key === 'chat_id' || meantField(key, ['chat_id']) !== null);

function homeChannel(key: string, config: TargetConfig, plan: TargetPlan): Problem {
  const message = `${plan.title} has no setting \`${key}\`: the default chat is called \`home_channel\``;
  const isFree = config.home_channel === undefined;
  const hint = 'remove it, or set it as `chat_id` in the `deliver_extra` of a route';
  return {
    rule: 'unknown-key',
    path: [key],
    at: 'key',
    message,
    ...(isFree ? { fix: { kind: 'rename', text: 'home_channel' } } : { hint }),
  };
}

function listSettings({ settings }: TargetPlan): string {
  if (settings.length === 0) return 'it has no settings';
  return `its settings are ${oneOf(
    settings.map(({ name }) => name),
    'and',
  )}`;
}

/** An enabled target without its credentials. */
function missingSettings(written: WrittenSettings): readonly Problem[] {
  return [...missingRequired(written), ...missingOfVariant(written)];
}

interface WrittenSettings {
  readonly plan: TargetPlan;
  /** Names of settings that are set or have a default. */
  readonly present: ReadonlySet<string>;
  /** Variants that the config allows; `variant` is the first of them whose required settings are all present. */
  readonly candidates: readonly VariantPlan[];
  readonly variant: VariantPlan | undefined;
  readonly base: string | undefined;
}

const missing = (message: string, hint: Pick<Problem, 'hint'> = {}): Problem => ({
  rule: 'missing-setting',
  path: [],
  at: 'key',
  message,
  ...hint,
});

function missingRequired({ plan, present }: WrittenSettings): readonly Problem[] {
  return plan.settings
    .filter(({ name, required }) => required && name !== 'api_base' && !present.has(name))
    .map(({ name, secret }) => {
      const hint = secret ? { hint: `write it as a reference, \`${name}: env:SOME_NAME\`` } : {};
      return missing(`${plan.title} needs \`${name}\``, hint);
    });
}

/** A self-hosted service has no default base URL. */
function missingOfVariant({ plan, candidates, variant, base, present }: WrittenSettings): readonly Problem[] {
  if (variant === undefined && plan.driver !== 'http') return incompleteVariant(candidates, present);
  if (variant === undefined) {
    const ways = candidates.map(({ name, needs }) => `${oneOf(needs, 'and')} (${name})`);
    return ways.length === 0 ? [] : [missing(`${plan.title} needs ${ways.join(', or ')}`)];
  }
  if (variant.base !== null || base !== undefined) return [];
  const [alias] = plan.settings.find(({ name }) => name === 'api_base')?.aliases ?? [];
  const also = alias === undefined ? '' : ` (or \`${alias}\`)`;
  return [missing(`${plan.title} is self-hosted: it needs \`api_base\`${also}, the base URL of your server`)];
}

/** A setting that only a variant reads, without the others of this variant, on a target that needs no variant. */
function incompleteVariant(candidates: readonly VariantPlan[], present: ReadonlySet<string>): readonly Problem[] {
  return candidates.flatMap(({ needs, unless = [] }) => {
    const written = needs.filter((name) => present.has(name));
    if (needs.length < 2 || written.length === 0) return [];
    const lacking = needs.filter((name) => !present.has(name));
    if (lacking.length > 0) return [missing(`${oneOf(written, 'and')} also needs ${oneOf(lacking, 'and')}`)];
    const against = unless.filter((name) => present.has(name));
    const message = `${oneOf(against, 'and')} and \`${needs[0]}\` exclude each other`;
    return [
      {
        rule: 'invalid-value',
        path: [against[0] ?? ''],
        at: 'key',
        message,
        hint: 'remove one of them; set the address of a self-hosted server as `api_base`',
      },
    ];
  });
}
