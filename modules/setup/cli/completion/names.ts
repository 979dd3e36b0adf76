/** Names in use, for completion: read from what lies on disk, quickly, and never with an error. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetFolder } from '../../../../base/assets.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { loadPart } from '../../../../cli/base/module.ts';

/** What has to be looked up in a shape or a page loads the code that reads it. */
type NameSource = (context: CliContext, asked: NameRequest) => readonly string[] | Promise<readonly string[]>;

/** By the name of the argument, as it stands in the help: `<profile>`. */
const SOURCES: Readonly<Record<string, NameSource>> = {
  route: (context) => [...tableKeys(context, 'routes', 'name'), ...subscriptions(context)],
  subscription: (context) => subscriptions(context),
  profile: (context) => ['default', ...folder(join(context.home, 'profiles'))],
  target: (context) => tableKeys(context, 'targets'),
  job: (context) => tableKeys(context, 'jobs', 'name'),
  key: (context) => [
    ...[join(assetFolder('catalog'), 'blueprints'), join(context.home, 'catalog/blueprints')].flatMap(yamlNames),
    ...tableKeys(context, 'blueprints'),
  ],
  schema: () => namesWithout(/\.schema\.json$/, assetFolder('schemas')),
  event: async (context, { given: [source = ''] }) =>
    (await loadPart(context.modules, 'payloads')).eventNames(context, source),
  /** Canonical names and the ones senders are known by (`github`): a command takes both. */
  source: async (context) => {
    const { openSources } = await import('../../../../cli/sources/open-sources.ts');
    return openSources(context, undefined).then(
      ({ names }) => names,
      () => [],
    );
  },
  rule: async () => [...(await import('../../../../cli/docs.ts')).readRules().keys()],
  page: async () => (await import('../../../../cli/docs.ts')).pageNames(),
  prefix: async (context, { given: [source = '', event], partial }) =>
    (await loadPart(context.modules, 'payloads')).pathNames(context, source, event, partial),
};

export interface NameRequest {
  /** The name of the argument. */
  readonly kind: string;
  /** The positional arguments before it. */
  readonly given: readonly string[];
  /** What is typed of it. */
  readonly partial: string;
}

/** Distinct names for one kind of argument; empty for a kind without names. */
export async function namesFor(asked: NameRequest, context: CliContext): Promise<string[]> {
  return [...new Set((await SOURCES[asked.kind]?.(context, asked)) ?? [])].sort();
}

export const namesInUse = (kind: string, context: CliContext): Promise<string[]> =>
  namesFor({ kind, given: [], partial: '' }, context);

const subscriptions = (context: CliContext): string[] =>
  Object.keys(readMap(join(context.home, 'webhook_subscriptions.json')));

/** The keys of one map in the compiled table, or a property of its entries. */
function tableKeys(context: CliContext, map: string, property?: string): string[] {
  return [context.cwd, context.home].flatMap((root) => {
    const entries = asMap(readMap(join(root, 'build', 'routes.json'))[map]);
    if (property === undefined) return Object.keys(entries);
    return Object.values(entries).map((entry) => String(asMap(entry)[property]));
  });
}

function readMap(path: string): Readonly<Record<string, unknown>> {
  try {
    return asMap(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return {};
  }
}

/** Catalog files are named for their entries. */
const yamlNames = (path: string): string[] => namesWithout(/\.ya?ml$/, path);

const namesWithout = (ending: RegExp, path: string): string[] =>
  folder(path).flatMap((file) => (ending.test(file) ? [file.replace(ending, '')] : []));

const asMap = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

function folder(path: string): string[] {
  try {
    return readdirSync(path).filter((name) => !name.startsWith('.'));
  } catch {
    return [];
  }
}
