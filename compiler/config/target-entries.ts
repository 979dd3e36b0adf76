/** The targets that a profile's config sets up. */
import type { ProfileConfig, TargetConfig } from '../../schemas/generated/types.ts';

/** Entries under `platforms`, by the name that is written. The root config's are without the webhook adapter. */
export function targetEntries(config: ProfileConfig): readonly (readonly [string, TargetConfig])[] {
  return Object.entries(config.platforms ?? {}).filter(
    (entry): entry is [string, TargetConfig] => entry[1] !== undefined,
  );
}
