/** Lists the targets that a profile's config sets up. */
import type { HttpTargetConfig, ProfileConfig, TargetConfig } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/problem.ts';

/** Keys that all targets have; the others are settings of the target. */
export const COMMON_KEYS: readonly string[] = [
  'enabled',
  'variant',
  'home_channel',
  'api_base',
  'allow_http',
  'retry_ambiguous',
  'max_attempts',
];

/** The target of `platforms.http`, whose entry has a form of its own. */
export const HTTP_TARGET = 'http';

/** Headers of that entry are settings of the target with this prefix. */
export const HEADER_SETTING = 'headers.';

/** The entries under `platforms`, by their names as written. The default profile's do not include `webhook`. */
export function targetEntries(config: ProfileConfig): readonly (readonly [string, TargetConfig])[] {
  return Object.entries(config.platforms ?? {}).flatMap(([name, entry]) => {
    if (entry === undefined) return [];
    return [[name, name === HTTP_TARGET ? flatEntry(entry as HttpTargetConfig) : (entry as TargetConfig)] as const];
  });
}

export const httpEntry = ({ platforms }: ProfileConfig): HttpTargetConfig | undefined => platforms?.http;

/** The path in the config of what is at a path of an entry. */
export const platformPath = (entry: string, [setting, ...rest]: NodePath): NodePath =>
  typeof setting === 'string' && setting.startsWith(HEADER_SETTING)
    ? ['platforms', entry, 'headers', setting.slice(HEADER_SETTING.length), ...rest]
    : ['platforms', entry, ...(setting === undefined ? [] : [setting, ...rest])];

/** Without the body, which is no setting. */
function flatEntry({ headers = {}, body: _, ...entry }: HttpTargetConfig): TargetConfig {
  const named = Object.entries(headers).map(([name, value]) => [HEADER_SETTING + name, value] as const);
  return { ...entry, ...Object.fromEntries(named) };
}
