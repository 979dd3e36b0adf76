/** Matches the keys of `platforms.<target>` to the settings of the target, and reports unknown and duplicate ones. */
import type { SettingPlan, TargetConfig, TargetPlan } from '../../schemas/generated/types.ts';
import { COMMON_KEYS } from '../config/target-entries.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { meantField } from '../rules/support/address-names.ts';
import { didYouMean, oneOf, renameFix } from '../text/suggest.ts';

/** A setting as the config writes it. */
export interface WrittenSetting {
  /** The key as written, perhaps an alias. */
  readonly key: string;
  readonly setting: SettingPlan;
  readonly value: string | number | boolean;
}

export interface MatchedSettings {
  readonly known: readonly WrittenSetting[];
  readonly problems: readonly Problem[];
}

/** Matches the keys of an entry under `platforms` to the target's settings. Paths of problems are relative to the entry. */
export function matchSettings(config: TargetConfig, plan: TargetPlan): MatchedSettings {
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
  if (settings.length === 0) return 'it has no settings of its own';
  return `its settings are ${oneOf(
    settings.map(({ name }) => name),
    'and',
  )}`;
}
