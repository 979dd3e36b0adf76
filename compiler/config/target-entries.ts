/** Lists the targets that a profile's config sets up. */
import type { ProfileConfig, TargetConfig } from '../../schemas/generated/types.ts';

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

/** The entries under `platforms`, by their names as written. The default profile's do not include `webhook`. */
export function targetEntries(config: ProfileConfig): readonly (readonly [string, TargetConfig])[] {
  return Object.entries(config.platforms ?? {}).filter(
    (entry): entry is [string, TargetConfig] => entry[1] !== undefined,
  );
}
