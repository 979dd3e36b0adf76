/** Lowers `platforms.<target>` of a profile to the bindings of its table entry: which targets it may use, with what credentials. */
import type {
  SecretRef,
  SettingPlan,
  TargetBinding,
  TargetConfig,
  TargetPlan,
  VariantPlan,
} from '../../schemas/generated/types.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/problem.ts';
import { duplicateDefinition } from '../rules/duplicate-definition.ts';
import { invalidValue } from '../rules/invalid-value.ts';
import { missingSetting } from '../rules/missing-setting.ts';
import { secretReference } from '../rules/secret-reference.ts';
import { meantField } from '../rules/support/address-names.ts';
import { unknownKey } from '../rules/unknown-key.ts';
import { parseSecretRef, secretRefProblem } from '../text/secret-ref.ts';
import { didYouMean, oneOf, renameFix } from '../text/suggest.ts';
import { fullMatch } from './target/scope.ts';

/** Keys every target's config knows; the rest are settings of the target. */
const COMMON_KEYS = [
  'enabled',
  'variant',
  'home_channel',
  'api_base',
  'allow_http',
  'retry_ambiguous',
  'max_attempts',
] as const;

export interface BindingScope {
  /** Profile whose environment resolves the references. */
  readonly profile: string;
  /** `gateway.max_attempts`. */
  readonly max_attempts: number;
}

/** What a config may hold: the schema allows text, integers and booleans. */
type Value = string | number | boolean;

/**
 * Problems carry paths relative to the entry under `platforms`. A target that is not enabled has no binding,
 * but its keys are checked: a typo is a typo before the switch is turned, too.
 */
export function lowerBinding(config: TargetConfig, plan: TargetPlan, scope: BindingScope): Lowered<TargetBinding> {
  const { known, problems } = sortSettings(config, plan);
  const read = readSettings(known, scope);
  problems.push(...read.problems);
  if (config.enabled !== true) return { plan: null, problems };
  const present = new Set(known.map(({ setting }) => setting.name));
  for (const { name, default: usual } of plan.settings) if (usual !== null) present.add(name);
  const { candidates, variant, problems: ofVariant } = chooseVariant(config, plan, present);
  const common = readCommon(config, scope);
  const api = known.find(({ setting }) => setting.name === 'api_base');
  const base = config.api_base ?? (api === undefined ? undefined : String(api.value));
  if (base !== undefined) common.place('api_base', base);
  problems.push(...ofVariant, ...missingSetting.check({ plan, present, candidates, variant, base }));
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

interface Written {
  /** The key as written, perhaps an alias. */
  readonly key: string;
  readonly setting: SettingPlan;
  readonly value: Value;
}

function sortSettings(config: TargetConfig, plan: TargetPlan): { known: Written[]; problems: Problem[] } {
  const byName = new Map(
    plan.settings.flatMap((one) => [one.name, ...one.aliases].map((name) => [name, one] as const)),
  );
  const known: Written[] = [];
  const problems: Problem[] = [];
  for (const [key, value] of Object.entries(config)) {
    if ((COMMON_KEYS as readonly string[]).includes(key) || value === undefined) continue;
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
      problems.push({ rule: duplicateDefinition, path: [key], at: 'key', message, related });
    } else {
      known.push({ key, setting, value });
    }
  }
  return { known, problems };
}

function unknownSetting(key: string, plan: TargetPlan, known: readonly string[]): Problem {
  const problem = { rule: unknownKey, path: [key], at: 'key', sensitive: true } as const;
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
  const message = `${plan.title} has no setting \`${key}\`: the chat of deliveries that name none is called \`home_channel\``;
  const isFree = config.home_channel === undefined;
  const hint = 'remove it, or set it as `chat_id` in the `deliver_extra` of a route';
  return {
    rule: unknownKey,
    path: [key],
    at: 'key',
    message,
    ...(isFree ? { fix: { kind: 'rename', text: 'home_channel' } } : { hint }),
  };
}

function listSettings({ settings }: TargetPlan): string {
  if (settings.length === 0) return 'it has no settings of its own';
  return `its settings are ${oneOf(
    settings.map(({ name }) => name),
    'and',
  )}`;
}

interface ReadSettings {
  readonly credentials: Record<string, SecretRef>;
  readonly options: TargetBinding['options'];
  readonly problems: Problem[];
}

/** Secrets and whatever is written as a reference are resolved when the table is loaded; the rest is in the table. */
function readSettings(known: readonly Written[], { profile }: BindingScope): ReadSettings {
  const read: ReadSettings = { credentials: {}, options: {}, problems: [] };
  for (const { key, setting, value } of known) {
    if (setting.name === 'api_base') continue;
    const ref = parseSecretRef(String(value), profile);
    const why = value === '' ? 'it is empty' : (secretRefProblem(ref) ?? misfit(setting, ref));
    if (why !== null) {
      const rule = ref.kind === 'literal' ? invalidValue : secretReference;
      read.problems.push({ rule, path: [key], at: 'value', message: `\`${key}\`: ${why}` });
    }
    if (setting.secret || ref.kind !== 'literal') read.credentials[setting.name] = ref;
    else read.options[setting.name] = value;
  }
  return read;
}

/** The value of a secret is not repeated. */
function misfit(setting: SettingPlan, ref: SecretRef): string | null {
  if (ref.kind !== 'literal' || setting.pattern === null || fullMatch(setting.pattern, ref.value)) return null;
  const shown = setting.secret ? 'the value' : JSON.stringify(ref.value);
  return `${shown} does not have the form ${setting.pattern}`;
}

interface ChosenVariant {
  readonly candidates: readonly VariantPlan[];
  /** undefined: the settings of none of them are all there. */
  readonly variant: VariantPlan | undefined;
  readonly problems: readonly Problem[];
}

/** The variant named, else the first whose settings are all there. */
function chooseVariant({ variant }: TargetConfig, plan: TargetPlan, present: ReadonlySet<string>): ChosenVariant {
  const names = plan.variants.map(({ name }) => name);
  if (variant !== undefined && !names.includes(variant)) {
    const known = names.length === 0 ? 'it has no variants' : `there are ${oneOf(names, 'and')}`;
    const message = `${plan.title} has no variant \`${variant}\`; ${known}${didYouMean(variant, names)}`;
    const problem: Problem = { rule: invalidValue, path: ['variant'], at: 'value', message };
    return { candidates: [], variant: undefined, problems: [problem] };
  }
  const candidates = plan.variants.filter(({ name }) => variant === undefined || name === variant);
  const usable = candidates.find(({ needs }) => needs.every((name) => present.has(name)));
  return { candidates, variant: usable, problems: [] };
}

/** Home channel and base URL are plain text in the table, or references among the credentials. */
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

/** Canonical names by every name and alias. Problems carry paths `[target, 'aliases', index]`. */
export function lowerTargetNames(
  files: Readonly<Record<string, { readonly aliases?: readonly string[] }>>,
): Lowered<Readonly<Record<string, string>>> {
  const names = new Map(Object.keys(files).map((name) => [name, name]));
  const problems: Problem[] = [];
  for (const [target, { aliases = [] }] of Object.entries(files)) {
    for (const [index, alias] of aliases.entries()) {
      const owner = names.get(alias);
      const path: NodePath = [target, 'aliases', index];
      if (owner === undefined) names.set(alias, target);
      else if (owner !== target) {
        const message = `\`${alias}\` already names the target \`${owner}\``;
        problems.push({ rule: duplicateDefinition, path, at: 'value', message });
      }
    }
  }
  return { plan: Object.fromEntries(names), problems };
}
