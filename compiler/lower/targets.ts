/** Lowers the target files of the catalog to plans, and collects the names that `deliver` and `platforms` may use. */
import { realSource, realTarget } from '../../base/spec-names.ts';
import type {
  AddressPlan,
  ContentField,
  TargetContent,
  TargetEffect,
  TargetFile,
  TargetPlan,
  TargetVariant,
  VariantPlan,
} from '../../schemas/generated/types.ts';
import { SHARED_PARTS } from '../config/target-entries.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/diagnostic.ts';
import type { TargetScope } from './target-text.ts';
import { lowerAddress, lowerSettings } from './target-text.ts';
import type { MergedVariant } from './target-variant.ts';
import { lowerVariant } from './target-variant.ts';

/** A lowered target file. Shipped ones are lowered once for all compiles, because checking their patterns is slow. */
export interface CatalogTarget {
  readonly aliases?: readonly string[];
  readonly title: string;
  /** Events that senders send because of a delivery. */
  readonly causes?: readonly TargetEffect[];
  readonly lowered: Lowered<TargetPlan>;
}

export function lowerTargetFile(name: string, file: TargetFile): CatalogTarget {
  const { aliases, title } = file;
  const causes = file.causes?.map((effect) => ({ ...effect, source: realSource(effect.source) }));
  return {
    ...(aliases === undefined ? {} : { aliases }),
    ...(causes === undefined ? {} : { causes }),
    title,
    lowered: lowerTarget(name, file),
  };
}

interface LoweredTargets {
  readonly targets: Record<string, TargetPlan>;
  /** Canonical names by name and alias; names take precedence over aliases. */
  readonly names: Record<string, string>;
  /** By target name; paths are relative to the target. */
  readonly problems: ReadonlyMap<string, readonly Problem[]>;
}

/** @param catalog targets by canonical name */
export function lowerTargets(catalog: ReadonlyMap<string, CatalogTarget>): LoweredTargets {
  const targets: Record<string, TargetPlan> = {};
  const problems = new Map<string, readonly Problem[]>();
  for (const [name, { lowered }] of catalog) {
    if (lowered.problems.length > 0) problems.set(name, lowered.problems);
    if (lowered.plan !== null) targets[name] = lowered.plan;
  }
  const usable = [...catalog].filter(([name]) => Object.hasOwn(targets, name));
  const names = lowerTargetNames(Object.fromEntries(usable));
  for (const problem of names.problems) {
    const [name, ...path] = problem.path;
    problems.set(String(name), [...(problems.get(String(name)) ?? []), { ...problem, path }]);
  }
  return { targets, names: { ...names.plan }, problems };
}

/** Name of the variant of a target that defines no variants. */
const ONLY_VARIANT = 'default';

/** Paths of problems are relative to the file. The plan is null if there is any problem. */
export function lowerTarget(name: string, file: TargetFile): Lowered<TargetPlan> {
  if (file.like !== undefined && file.settings === undefined) {
    const message = `\`like\` must name a target with \`settings\` and without \`like\` in the same folder, or in the same configuration; \`${file.like}\` is not one there`;
    return { plan: null, problems: [{ rule: 'target-driver', path: ['like'], at: 'value', message }] };
  }
  const problems: Problem[] = [];
  const driver = file.driver === 'forgea_comment' ? 'github_comment' : (file.driver ?? 'http');
  const scope: TargetScope = {
    settings: file.settings ?? {},
    address: file.address ?? {},
    content: file.content ?? {},
    groups: [],
    headers: {},
    has: { exchange: false, signature: false, jwt: false },
    report: (problem) => problems.push(problem),
  };
  const settings = lowerSettings(scope.settings, ['settings'], scope);
  const shared = lowerAddress(scope.address, ['address'], scope);
  const isDeclared = driver === 'http' || (driver === 'github_comment' && file.variants !== undefined);
  const variants = isDeclared ? mergeVariants(file).map((variant) => lowerVariant(variant, scope)) : [];
  if (!isDeclared) reportUnread(file, driver, scope);
  if (problems.length > 0) return { plan: null, problems: unique(problems) };
  const back = file.causes === undefined ? {} : { comes_back: file.causes.map(({ source }) => realSource(source)) };
  const content = file.content === undefined ? {} : { content: lowerContent(file.content) };
  const address = allAddresses(shared, variants);
  const platform = file.like === undefined ? {} : { platform: realTarget(file.like) };
  const last = file.home_last === undefined ? {} : { home_last: file.home_last };
  const plan = {
    name,
    title: file.title,
    ...platform,
    ...back,
    ...last,
    ...(file.commit === undefined ? {} : { commit: file.commit }),
    ...(file.progress === undefined ? {} : { progress: file.progress }),
    driver,
    settings,
    address,
    ...content,
    variants,
  };
  return { plan, problems };
}

function lowerContent(content: TargetContent): ContentField[] {
  return Object.entries(content).map(([name, { help, kind = 'text', required = true, values, members }]) => ({
    name,
    kind,
    required,
    help,
    ...(values === undefined ? {} : { values }),
    ...(members === undefined
      ? {}
      : { members: Object.entries(members).map(([member, of]) => ({ name: member, kind: of })) }),
  }));
}

/** A driver reads only the address. */
function reportUnread(file: TargetFile, driver: string, scope: TargetScope): void {
  for (const part of [...SHARED_PARTS, 'variants' as const]) {
    if (part === 'address' || file[part] === undefined) continue;
    const message = `the driver \`${driver}\` ignores \`${part}\``;
    scope.report({ rule: 'target-driver', path: [part], at: 'key', message });
  }
}

function mergeVariants(file: TargetFile): MergedVariant[] {
  const shared: Record<string, unknown> = {};
  for (const part of SHARED_PARTS) if (file[part] !== undefined) shared[part] = file[part];
  const named = Object.entries(file.variants ?? {});
  if (named.length === 0) {
    return [{ name: ONLY_VARIANT, parts: shared as TargetVariant, pathOf: (part) => [part] }];
  }
  return named.map(([name, own]) => ({
    name,
    parts: {
      ...(shared as TargetVariant),
      ...own,
      ...(file.headers === undefined ? {} : { headers: { ...file.headers, ...own.headers } }),
    },
    pathOf: (part) => (own[part] !== undefined || shared[part] === undefined ? ['variants', name, part] : [part]),
  }));
}

/** The fields of all variants. A field is required if all variants require it. */
function allAddresses(shared: readonly AddressPlan[], variants: readonly VariantPlan[]): AddressPlan[] {
  const lists = variants.length === 0 ? [shared] : variants.map((variant) => variant.address);
  const names = [...new Set(lists.flatMap((list) => list.map((field) => field.name)))];
  return names.map((name) => {
    const fields = lists.map((list) => list.find((field) => field.name === name));
    const first = fields.find((field) => field !== undefined);
    const patterns = new Set(fields.map((field) => field?.pattern ?? null));
    return {
      name,
      required: fields.every((field) => field?.required === true),
      pattern: patterns.size === 1 ? (first?.pattern ?? null) : null,
    };
  });
}

/** Removes duplicates: parts that variants share are lowered once per variant. */
function unique(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  return problems.filter((problem) => {
    const id = JSON.stringify([problem.rule, problem.path, problem.within, problem.message]);
    return !seen.has(id) && seen.add(id) !== undefined;
  });
}

/** Reports aliases that already name another target, at `[target, 'aliases', index]`. */
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
        problems.push({ rule: 'duplicate-definition', path, at: 'value', message });
      }
    }
  }
  return { plan: Object.fromEntries(names), problems };
}
