/**
 * Lowers all sources of the catalog and the config, with their variants: the schemes of the table, their names, and the
 * defaults for routes without `source:`.
 */
import type {
  LocatorPlan,
  RouteTable,
  SchemePlan,
  SourceFacts,
  SourceFile,
  SourcePlan,
} from '../../schemas/generated/types.ts';
import { NOT_INHERITED } from '../config/built/key-lists.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/diagnostic.ts';
import { didYouMean } from '../text/suggest.ts';
import { lowerLocators, lowerSource } from './source.ts';

/** Lowers all sources of the catalog and the config: the schemes of the table, and their names. */
interface LoweredSources {
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
  const all = [...files].flatMap(([name, file]) => lowerFile(name, file));
  const entries = all.map(({ entry }) => entry);
  const names = sourceNames(entries);
  const problems = new Map<string, Problem[]>();
  const report = (entry: SourceEntry, found: readonly Problem[]): void => {
    if (found.length > 0) problems.set(entry.parent, [...(problems.get(entry.parent) ?? []), ...found]);
  };
  const lowered = all.flatMap(({ entry, plan, problems: found }): readonly LoweredSource[] => {
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

type LoweredEntry = Lowered<SchemePlan> & { readonly entry: SourceEntry };

/** The shipped files are the same objects for each compile of a process: each is lowered once, under its own name. */
const LOWERED = new WeakMap<SourceFile, readonly LoweredEntry[]>();

function lowerFile(name: string, file: SourceFile): readonly LoweredEntry[] {
  const known = LOWERED.get(file);
  if (known?.[0]?.entry.name === name) return known;
  const lowered = expandSource(name, file).map((entry) => ({ entry, ...lowerSource(entry.name, entry.file) }));
  LOWERED.set(file, lowered);
  return lowered;
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
      ...(sending?.burst === undefined ? {} : { burst: sending.burst }),
      ...(sending?.max_body_bytes === undefined ? {} : { max_body_bytes: sending.max_body_bytes }),
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

/** A source, or a variant of one. */
export interface SourceEntry {
  readonly name: string;
  readonly file: SourceFile;
  /** Name of the file that it is a variant of; for the file itself, its own name. */
  readonly parent: string;
}

/** Keys that a variant never inherits: mixing keys of two schemes would make a third one; the last five belong to one name. */
const NEVER: ReadonlySet<string> = new Set(NOT_INHERITED satisfies readonly (keyof SourceFile)[]);

/** Returns the file itself, then its variants in the order in which they are written. */
export function expandSource(name: string, file: SourceFile): SourceEntry[] {
  const { variants = {}, ...base } = file;
  const inherited = Object.fromEntries(Object.entries(base).filter(([key]) => !NEVER.has(key)));
  return [
    { name, file: base, parent: name },
    ...Object.entries(variants).map(
      ([variant, own]): SourceEntry => ({ name: variant, file: { ...inherited, ...own }, parent: name }),
    ),
  ];
}

/** Canonical names by name and alias. Names take precedence over aliases, and earlier entries over later ones. */
export function sourceNames(entries: readonly SourceEntry[]): Map<string, string> {
  const names = new Map(entries.map(({ name }) => [name, name]));
  for (const { name, file } of entries) {
    for (const alias of file.aliases ?? []) if (!names.has(alias)) names.set(alias, name);
  }
  return names;
}

/** Lowers the catalog's defaults for routes without `source:`, which choose by request headers (§5, §6). */
type DefaultSources = Pick<RouteTable, 'default_schemes' | 'default_event' | 'default_delivery'>;

export interface LoweredSource {
  readonly name: string;
  readonly file: SourceFile;
  readonly plan: SchemePlan;
}

/** §6.1: payload fields for the event type if no header has it. */
const EVENT_FIELDS = ['event_type', 'type'];
/** §6.2: the last header that is tried for a delivery id. */
const REQUEST_ID = 'x-request-id';

/** Orders schemes and event headers by `precedence`, and delivery headers by `delivery_precedence`. */
export function lowerDefaultSources(sources: readonly LoweredSource[]): DefaultSources {
  const chosen = ranked(sources, (file) => file.precedence);
  const delivering = ranked(sources, (file) => file.delivery_precedence);
  return {
    default_schemes: chosen.map(({ name }) => name),
    default_event: [...headersOf(chosen.flatMap(({ plan }) => plan.event)), ...EVENT_FIELDS.map(jsonPlace)],
    default_delivery: unique([...deliveryHeaders(delivering), headerPlace(REQUEST_ID)]),
  };
}

function ranked(sources: readonly LoweredSource[], rank: (file: SourceFile) => number | undefined): LoweredSource[] {
  return sources
    .flatMap((source) => {
      const at = rank(source.file);
      return at === undefined ? [] : [{ source, at }];
    })
    .sort((a, b) => a.at - b.at || (a.source.name < b.source.name ? -1 : 1))
    .map(({ source }) => source);
}

function headersOf(places: readonly LocatorPlan[]): LocatorPlan[] {
  return unique(places.filter((place) => place.in === 'header'));
}

/** Reads the headers from the files, because the plan of a source with a signed id omits them. */
function deliveryHeaders(sources: readonly LoweredSource[]): LocatorPlan[] {
  const places = sources.flatMap(({ file }) => lowerLocators(file.delivery, ['delivery'], () => {}));
  return headersOf(places).filter(({ name }) => name !== REQUEST_ID);
}

function unique(places: readonly LocatorPlan[]): LocatorPlan[] {
  return [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
}

function headerPlace(name: string): LocatorPlan {
  return { in: 'header', name, path: [], split: '', prefix: '' };
}

function jsonPlace(field: string): LocatorPlan {
  return { in: 'json', name: '', path: [field], split: '', prefix: '' };
}
