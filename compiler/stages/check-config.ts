/** Validates the config and those of profiles against their schemas, and keeps the valid entries. */

import { DEFAULT_PROFILE } from '../../base/names.ts';
import type { Config, ProfileConfig } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import type { ProfileEntry } from '../lower/profile.ts';
import { pruneEntries } from '../schema/prune.ts';
import { checkShape } from '../schema/validate.ts';
import type { HomeDisk } from '../source/files.ts';
import type { Places, Report } from '../source/find-place.ts';
import { loadProfiles } from '../source/load-config.ts';
import { present } from '../text/plain-data.ts';

/** The valid part of a config, and the names that are missing from it because their entries have errors. */
interface CheckedConfig<T> {
  readonly config: T;
  /** See `RouteScope.invalidNames`. */
  readonly invalidNames: ReadonlySet<string>;
}

type Schemas = { readonly config: Config; readonly profile: ProfileConfig };

export function checkConfig<S extends keyof Schemas>(
  schema: S,
  file: { readonly value: Readonly<Record<string, unknown>>; readonly tree: Places },
  report: Report,
): CheckedConfig<Schemas[S]> {
  const problems = checkShape(schema, file.value);
  report.addProblems(problems, file.tree);
  const pruned = pruneEntries(schema, file.value, problems);
  // The invalid entries are removed, so the data has the schema's type.
  const invalidNames = [...pruned.removed.flatMap(namesOf), ...pruned.misspelt.map((path) => `route:${path.at(-1)}`)];
  return { config: pruned.value as Schemas[S], invalidNames: new Set(invalidNames) };
}

/** The names that a removed entry would have defined. */
function namesOf(path: NodePath): readonly string[] {
  const [top = '', name, setting, inner] = path.map(String);
  // Someone may have written a target's settings at the top level.
  if (name === undefined) return [`target:${top}`];
  if (top === 'agents') return [`agent:${name}`];
  if (top === 'jobs') return [`job:${name}`];
  if (top === 'sources') return [`source:${name}`];
  if (top === 'targets') return [`target:${name}`];
  if (top !== 'platforms') return [];
  if (name !== 'webhook') return [`target:${name}`];
  return [`setting:${setting === 'extra' ? inner : setting}`];
}

/** A validated profile config. The root config is that of `default`. */
export interface CheckedProfile extends ProfileEntry {
  readonly invalidNames: ReadonlySet<string>;
  readonly tree: Places;
}

/** All profiles, `default` first; it has the root config's tree. */
export const checkProfiles = (
  { config, invalidNames }: CheckedConfig<Config>,
  tree: Places,
  input: HomeDisk,
  report: Report,
): readonly CheckedProfile[] => [defaultProfile(config, invalidNames, tree), ...otherProfiles(config, input, report)];

/** The part of the root config that belongs to the profile `default`. */
function defaultProfile(config: Config, invalidNames: ReadonlySet<string>, tree: Places): CheckedProfile {
  const { platforms: { webhook: _, ...targets } = {}, platform_toolsets, agent, agents, jobs } = config;
  return {
    name: DEFAULT_PROFILE,
    home: '',
    config: {
      // All keys except `webhook` are targets.
      platforms: targets as NonNullable<ProfileConfig['platforms']>,
      ...present({ platform_toolsets, agent, agents, jobs }),
    },
    invalidNames,
    tree,
  };
}

/** Without multiplexing, the other profiles cannot be reached and are ignored. */
function otherProfiles(config: Config, input: HomeDisk, report: Report): readonly CheckedProfile[] {
  if (config.gateway?.multiplex_profiles !== true) return [];
  const loaded = loadProfiles(input);
  report.add(loaded.findings);
  return loaded.profiles.map(({ name, home, value, tree }) => {
    const checked = checkConfig('profile', { value: value ?? {}, tree }, report);
    return { name, home, tree, ...checked };
  });
}
