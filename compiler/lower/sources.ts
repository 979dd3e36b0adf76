/** Lowers all sources of the catalog and the config: the schemes of the table, and their names. */
import type { SchemePlan, SourceFacts, SourceFile, SourcePlan } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { didYouMean } from '../text/suggest.ts';
import type { DefaultSources, LoweredSource } from './default-sources.ts';
import { lowerDefaultSources } from './default-sources.ts';
import { lowerSource } from './source.ts';
import type { SourceEntry } from './source-variants.ts';
import { expandSource, sourceNames } from './source-variants.ts';

export interface LoweredSources {
  readonly schemes: Record<string, SchemePlan>;
  readonly defaults: DefaultSources;
  /** By name and alias. */
  readonly sources: Record<string, SourcePlan>;
  /** By canonical name; see route-table.schema.json. */
  readonly facts: Record<string, SourceFacts>;
  /** By source name; paths are relative to the source. */
  readonly problems: ReadonlyMap<string, readonly Problem[]>;
}

/** @param files source files by canonical name */
export function lowerSources(files: ReadonlyMap<string, SourceFile>): LoweredSources {
  const entries = [...files].flatMap(([name, file]) => expandSource(name, file));
  const names = sourceNames(entries);
  const problems = new Map<string, Problem[]>();
  const report = (entry: SourceEntry, found: readonly Problem[]): void => {
    if (found.length > 0) problems.set(entry.parent, [...(problems.get(entry.parent) ?? []), ...found]);
  };
  const lowered = entries.flatMap((entry): readonly LoweredSource[] => {
    const { plan, problems: found } = lowerSource(entry.name, entry.file);
    report(
      entry,
      found.map((problem) => ({ ...problem, path: pathInFile(files, entry, problem.path) })),
    );
    report(entry, unknownAccepted(entry, names));
    return plan === null ? [] : [{ name: entry.name, file: entry.file, plan }];
  });
  const byName = new Map(lowered.map((source) => [source.name, source]));
  const sources = [...names].flatMap(([name, canonical]): readonly [string, SourcePlan][] => {
    const source = byName.get(canonical);
    return source === undefined ? [] : [[name, planOf(source, names)]];
  });
  return {
    schemes: Object.fromEntries(lowered.map(({ name, plan }) => [name, plan])),
    defaults: lowerDefaultSources(lowered),
    sources: Object.fromEntries(sources),
    facts: Object.fromEntries(lowered.flatMap(({ name, file }) => factsOf(file).map((facts) => [name, facts]))),
    problems,
  };
}

function planOf({ name, file }: LoweredSource, names: ReadonlyMap<string, string>): SourcePlan {
  const accepts = file.accepts?.flatMap((scheme) => names.get(scheme) ?? []);
  return { scheme: name, accepts: accepts ?? [name] };
}

/** Empty if nothing is known about the sender. */
function factsOf({ events = [], event_names, sending }: SourceFile): readonly SourceFacts[] {
  if (events.length === 0 && sending === undefined) return [];
  return [
    {
      events,
      ...(event_names === undefined ? {} : { event_names }),
      attempts: sending?.attempts ?? null,
      horizon_seconds: sending?.horizon_seconds ?? null,
      deadline_seconds: sending?.deadline_seconds ?? null,
      burst_per_minute: sending?.burst_per_minute ?? null,
    },
  ];
}

/** The path of a variant's key in its file: under `variants`, or at the top level if it is inherited. */
function pathInFile(files: ReadonlyMap<string, SourceFile>, entry: SourceEntry, path: NodePath): NodePath {
  const variant = files.get(entry.parent)?.variants?.[entry.name];
  const own = variant !== undefined && (path.length === 0 || Object.hasOwn(variant, String(path[0])));
  return own && entry.name !== entry.parent ? ['variants', entry.name, ...path] : path;
}

function unknownAccepted(entry: SourceEntry, names: ReadonlyMap<string, string>): readonly Problem[] {
  return (entry.file.accepts ?? []).flatMap((name, index): readonly Problem[] => {
    if (names.has(name)) return [];
    const message = `there is no source \`${name}\`${didYouMean(name, names.keys())}`;
    return [{ rule: 'unknown-source', path: ['accepts', index], at: 'value', message }];
  });
}
