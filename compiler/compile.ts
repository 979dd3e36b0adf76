/** Compiles config files to the bytes of the tables: read, validate, lower and check, emit. */
import { dirname } from 'node:path';
import { DEFAULT_PROFILE } from '../base/names.ts';
import type { Catalog as PublishedCatalog, RouteTable } from '../schemas/generated/types.ts';
import type { CompileInput } from './compile-input.ts';
import type { TableContent } from './config/settings.ts';
import { effectiveSettings, readOverrides } from './config/settings.ts';
import type { Diagnostic } from './diagnostics/diagnostic.ts';
import { hasErrors } from './diagnostics/diagnostic.ts';
import type { RuleId } from './diagnostics/rule.ts';
import { emitTable } from './emit/emit-table.ts';
import type { BlueprintTools } from './module.ts';
import { rulesInForce } from './rules/registry.ts';
import { displayPath, recordFiles } from './source/files.ts';
import type { Report } from './source/find-place.ts';
import { createPlacer, createReport } from './source/find-place.ts';
import type { LoadedConfig } from './source/load-config.ts';
import { loadConfig } from './source/load-config.ts';
import { createFacts, loadVariables } from './source/load-env.ts';
import { mergeFiles } from './source/source-tree.ts';
import { loadCatalog } from './stages/catalog.ts';
import { checkConfig, checkProfiles } from './stages/check-config.ts';
import { checkWhole } from './stages/check-whole.ts';
import { checkAgents, compileRoutes } from './stages/compile-route.ts';
import { lintSubscriptions } from './stages/compile-subscriptions.ts';
import { lowerBase } from './stages/lower-base.ts';
import { viewRoute } from './views/view-route.ts';
import type { Reach } from './views/views.ts';

export type { CompileInput };

export interface CompileResult {
  /** The diagnostics of all files, sorted, including warnings. */
  readonly diagnostics: readonly Diagnostic<RuleId>[];
  /** Path of the root config file; `build/` is in the same folder. */
  readonly root: string;
  /** Names of the config files that were read, in the order in which they were named. */
  readonly files: readonly string[];
  /** Names of configs that exist but were not read, because another one takes precedence. */
  readonly ignored: readonly string[];
  /** Absolute paths that the result depends on: files that were read or searched for, and folders that were listed. */
  readonly inputs: readonly string[];
  /** Null if a diagnostic is an error. */
  readonly output: CompileOutput | null;
}

export interface CompileOutput {
  readonly table: RouteTable;
  /** Creates the published blueprints; lazy, because few commands need them. */
  readonly catalog: () => PublishedCatalog;
  /** The letters of the Rule of Two of a route of the config; null without the module that knows them, and for other routes. */
  readonly reach: (route: string) => Reach | null;
  /** Bytes of `routes.json`, see emit/emit-table.ts. */
  readonly routesJson: string;
  /** The table contains a literal secret, so only the owner may read its file. */
  readonly hasLiteralSecrets: boolean;
}

/** Reports every problem in every file as a diagnostic; never throws because of user input. */
export function compile(input: CompileInput): CompileResult {
  const recorded = recordFiles(input.files);
  const world = { ...input, files: recorded.files };
  const report = createReport(input.modules);
  const loaded = loadConfig(world);
  report.add(loaded.findings);
  const table = tableOf(loaded, world, report);
  const diagnostics = report.diagnostics();
  return {
    diagnostics,
    root: loaded.root,
    files: loaded.files.map(({ source }) => source.name),
    ignored: loaded.ignored.map((path) => displayPath(path, input.cwd)),
    inputs: recorded.paths(),
    output: table === null || hasErrors(diagnostics) ? null : emit(table, input),
  };
}

type Checked = Pick<CompileOutput, 'reach'> & { readonly content: TableContent };

/** Validates, checks and lowers the files. Null if a part of the config is unknown. */
function tableOf(
  { root, files, named, incomplete }: LoadedConfig,
  input: CompileInput,
  report: Report,
): Checked | null {
  if (files.length === 0) return null;
  const { tree, findings } = mergeFiles(files);
  report.add(findings);
  const checked = checkConfig('config', { value: tree.value, tree }, report);
  // Names that are defined in the missing files would be reported as unknown.
  if (incomplete) return null;
  const { config, invalidNames } = checked;
  const settings = effectiveSettings(config.platforms?.webhook ?? {});
  const written = checkProfiles(checked, tree, input, report);
  const expand = input.modules.find(({ agents }) => agents)?.agents;
  const profiles = expand?.(written, input, config, report) ?? written;
  const env = loadVariables(input);
  report.add(env.findings);
  const overrides = readOverrides(env.ofProfile(DEFAULT_PROFILE), input.flags);
  const catalog = loadCatalog(input, { config, tree }, report);
  const blueprints = blueprintTools(input)?.load(input);
  report.add(blueprints?.findings ?? []);
  const [payloads = null] = input.modules.flatMap(
    (module) => module.payloads?.({ ...input, files: named, catalog }, report) ?? [],
  );
  const placer = createPlacer(dirname(root));
  const scope = lowerBase(
    {
      config,
      tree,
      settings,
      overrides,
      flags: input.flags,
      profiles,
      catalog,
      placer,
      facts: createFacts({ ...input, env: env.ofProfile }),
      rules: rulesInForce(input.modules),
      blueprints: Object.fromEntries(blueprints?.plans ?? []),
      payloads,
    },
    report,
  );
  const view = {
    config,
    settings,
    overrides,
    variables: env.variables,
    invalidNames,
    server: scope.table.server,
    scope,
  };
  checkWhole({ view, tree, profiles, files: input.files }, report);
  const routes = compileRoutes(settings.routes, { scope, tree, placer }, report);
  const subscriptions = lintSubscriptions({ ...input, scope: { ...scope, table: { ...scope.table, routes } } }, report);
  // Subscriptions come first, because messages name the first routes.
  checkAgents({ profiles, routes: [...subscriptions, ...settings.routes], scope }, report);
  const reach: CompileOutput['reach'] = (name) => {
    const route = settings.routes.find((each) => each.name === name);
    return route === undefined ? null : (payloads?.reachOf(viewRoute(route, scope)) ?? null);
  };
  const [callbacks] = input.modules.flatMap((module) => module.callbacks?.(scope) ?? []);
  return { content: { ...scope.table, ...callbacks, routes }, reach };
}

function emit({ content, reach }: Checked, input: CompileInput): CompileOutput {
  const { table, text } = emitTable(content);
  return {
    table,
    reach,
    catalog: () => blueprintTools(input)?.publish(Object.values(table.blueprints), table.app_scheme) ?? [],
    routesJson: text,
    hasLiteralSecrets: LITERAL_SECRET.test(text),
  };
}

const blueprintTools = ({ modules }: CompileInput): BlueprintTools | undefined =>
  modules.find(({ blueprints }) => blueprints)?.blueprints;

/** Matches a literal secret; the `scope` distinguishes it from the literals of templates. */
const LITERAL_SECRET = /"kind":"literal","value":"(?:[^"\\]|\\.)*","scope":/;
