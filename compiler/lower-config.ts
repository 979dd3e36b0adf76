/** Lowers a validated config to the content of the table: first the base, then the routes. */
import { dirname, join } from 'node:path';
import type { Config } from '../schemas/generated/types.ts';
import { loadCatalog } from './catalog.ts';
import { checkAgents } from './check-agents.ts';
import type { CheckedConfig } from './check-config.ts';
import { checkConfig } from './check-config.ts';
import { checkWhole } from './check-whole.ts';
import type { CompileInput } from './compile-input.ts';
import { compileRoutes } from './compile-routes.ts';
import type { Env } from './config/overrides.ts';
import { readOverrides } from './config/overrides.ts';
import type { TableContent } from './config/table-content.ts';
import { effectiveSettings } from './config/webhook-settings.ts';
import { lintSubscriptions } from './lint-subscriptions.ts';
import type { CheckedProfile } from './lower-base.ts';
import { defaultProfile, lowerBase } from './lower-base.ts';
import { createPlacer } from './placer.ts';
import type { Report } from './report.ts';
import { rulesInForce } from './rules/registry.ts';
import { displayPath } from './source/display-path.ts';
import { createFacts } from './source/files-facts.ts';
import { describeEnv, loadEnvFile, loadProjectEnv } from './source/load-env.ts';
import { loadProfiles } from './source/load-profiles.ts';
import { projectEnvPath } from './source/search-config.ts';
import type { SourceTree } from './source/source-tree.ts';
import type { Variables } from './text/variables.ts';

export interface ReadConfig {
  readonly input: CompileInput;
  readonly root: string;
  readonly tree: SourceTree;
  readonly checked: CheckedConfig<Config>;
}

export function lowerConfig({ input, root, tree, checked }: ReadConfig, report: Report): TableContent {
  const { config, invalidNames } = checked;
  const variables = loadEnv(input, report);
  const env: Env = new Map([...variables].map(([name, { value }]) => [name, value]));
  const overrides = readOverrides(env, input.flags);
  const settings = effectiveSettings(config.platforms?.webhook ?? {});
  const profiles = [defaultProfile(config, invalidNames, tree), ...otherProfiles(config, input, report)];
  const facts = createFacts({ ...input, env: profileEnv(input, env) });
  const placer = createPlacer(dirname(root));
  const catalog = loadCatalog(input, { config, tree }, report);
  const [payloads = null] = input.modules.flatMap(({ payloads }) => payloads?.({ ...input, catalog }, report) ?? []);
  const rules = rulesInForce(input.modules);
  const base = { config, settings, overrides, flags: input.flags, catalog, profiles, facts, rules, payloads, placer };
  const scope = lowerBase(base, report);
  const view = { config, settings, overrides, variables, invalidNames, server: scope.table.server, scope };
  checkWhole({ view, tree, profiles, files: input.files }, report);
  const routes = compileRoutes(settings.routes, { scope, tree, placer }, report);
  checkAgents({ profiles, routes: settings.routes, scope }, report);
  lintSubscriptions({ ...input, scope: { ...scope, table: { ...scope.table, routes } } }, report);
  return { ...scope.table, routes };
}

function loadEnv(input: CompileInput, report: Report): Variables {
  const file = loadEnvFile(input.files, input.home, input.cwd);
  const projectPath = projectEnvPath(input.files, input, input.configs);
  const project = loadProjectEnv(input.files, projectPath, input.cwd);
  report.add([...file.findings, ...project.findings]);
  return describeEnv(input.env, [
    { values: file.values, path: displayPath(join(input.home, '.env'), input.cwd) },
    { values: project.values, path: displayPath(projectPath ?? '', input.cwd) },
  ]);
}

/** A profile reads its own `.env`. Only the default profile also reads the process environment. */
function profileEnv(input: CompileInput, env: Env): (profile: string) => Env {
  return (profile) =>
    profile === 'default' ? env : loadEnvFile(input.files, join(input.home, 'profiles', profile), input.cwd).values;
}

/** Without multiplexing, the other profiles cannot be reached and are ignored. */
function otherProfiles(config: Config, input: CompileInput, report: Report): readonly CheckedProfile[] {
  if (config.gateway?.multiplex_profiles !== true) return [];
  const loaded = loadProfiles(input.files, input.home, input.cwd);
  report.add(loaded.findings);
  return loaded.profiles.map(({ name, home, value, tree }) => {
    const checked = checkConfig('profile', { value: value ?? {}, tree }, report);
    return { name, home, tree, ...checked };
  });
}
