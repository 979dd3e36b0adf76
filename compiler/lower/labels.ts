/** Assigns display names to targets and schemes: the name that the config uses, else the service's usual name. */
import type { Labelled } from '../../base/text.ts';
import type { ProfileConfig, SchemePlan, SourceFile, SourcePlan, TargetPlan } from '../../schemas/generated/types.ts';
import { targetNamed, writtenTargets } from '../config/route-keys.ts';
import type { EffectiveSettings } from '../config/settings.ts';
import { targetEntries } from '../config/target-entries.ts';
import type { Named } from '../text/suggest.ts';
import { commonName } from '../text/suggest.ts';
import { expandSource } from './sources.ts';

/** The parts of a config that name targets. */
interface Writers {
  readonly profiles: readonly { readonly config: ProfileConfig }[];
  readonly settings: EffectiveSettings;
  readonly catalog: { readonly targets: ReadonlyMap<string, { readonly value: Named }> };
}

/** @param names canonical names by every name */
export function labelTargets(
  targets: Readonly<Record<string, TargetPlan>>,
  names: Readonly<Record<string, string>>,
  writers: Writers,
): Record<string, TargetPlan> {
  return withLabels(targets, {
    written: writtenTargetNames(writers, names),
    canonical: (name) => targetNamed(names, name) ?? undefined,
    common: (name) => commonName(name, writers.catalog.targets.get(name)?.value ?? {}),
  });
}

/** The names that people know where targets are used, then those where they are set up: `github` sets up `github_comment`. */
function writtenTargetNames(
  { profiles, settings }: Writers,
  names: Readonly<Record<string, string>>,
): readonly string[] {
  const jobs = profiles.flatMap(({ config }) => Object.values(config.jobs ?? {}));
  const users = [...settings.routes.map(({ config }) => config), ...jobs];
  const delivers = users.flatMap(({ deliver, outputs = {}, on_failure }) => [
    deliver,
    ...Object.values(outputs).map((output) => output.deliver),
    ...(on_failure === undefined ? [] : [on_failure.deliver]),
  ]);
  const used = delivers.flatMap((written) => writtenTargets(written).map(({ name }) => name));
  const known = used.filter((name) => targetNamed(names, name) !== name);
  return [...known, ...profiles.flatMap(({ config }) => targetEntries(config).map(([name]) => name)), ...used];
}

interface WrittenSources {
  /** By name and alias. */
  readonly sources: Readonly<Record<string, SourcePlan>>;
  /** By canonical name. */
  readonly files: ReadonlyMap<string, SourceFile>;
  readonly settings: EffectiveSettings;
}

export function labelSchemes(
  schemes: Readonly<Record<string, SchemePlan>>,
  { sources, files, settings }: WrittenSources,
): Record<string, SchemePlan> {
  return withLabels(schemes, {
    written: settings.routes.flatMap(({ config: { source, auth = [] } }) => (source === undefined ? auth : [source])),
    canonical: (name) => (Object.hasOwn(sources, name) ? sources[name]?.scheme : undefined),
    common: commonSourceNames(files),
  });
}

/** Variants take the usual name of their source: `gitlab-signature` for `forgeb-signature`. */
function commonSourceNames(files: ReadonlyMap<string, SourceFile>): (scheme: string) => string {
  const names = [...files].flatMap(([name, file]) =>
    expandSource(name, file).map((entry) => [entry.name, entry.name.replace(name, commonName(name, file))] as const),
  );
  const byScheme = new Map(names);
  return (scheme) => byScheme.get(scheme) ?? scheme;
}

interface LabelNames {
  /** Names as written in the config. The first name for an entry is used. */
  readonly written: Iterable<string>;
  /** The canonical name for a written one, or undefined if it is unknown. */
  readonly canonical: (written: string) => string | undefined;
  /** The usual name of a service that the config does not name. */
  readonly common: (canonical: string) => string;
}

/** @param plans by canonical name */
function withLabels<T extends Labelled>(
  plans: Readonly<Record<string, T>>,
  { written, canonical, common }: LabelNames,
): Record<string, T> {
  const chosen = new Map<string, string>();
  for (const name of written) {
    const target = canonical(name);
    if (target !== undefined && !chosen.has(target)) chosen.set(target, name);
  }
  const labelled = Object.entries(plans).map(([name, plan]): readonly [string, T] => {
    const label = chosen.get(name) ?? common(name);
    return [name, label === name ? plan : { ...plan, label }];
  });
  return Object.fromEntries(labelled);
}
