/** What `gateway setup` ends with: where each route is, where its secret is kept, and what to do at the sender. */
import { parseEnvLines } from '../../../../base/env-lines.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { openSources } from '../../../../cli/sources/open-sources.ts';
import { displayPath } from '../../../../compiler/source/display-path.ts';
import { missingAgent } from '../../../../runtime/dispatch/agents/program.ts';
import { userHome } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import { secretFiles } from '../../../../runtime/platform/secrets/secret-resolver.ts';
import type { RouteTable, SecretRef } from '../../../../schemas/generated/types.ts';
import { describeRoutes } from '../init/describe-routes.ts';
import { readIfThere } from './config-file.ts';

/** @param route the one that was made; undefined: all of the table's are described */
export async function describeSetup(
  context: CliContext,
  table: RouteTable,
  route: string | undefined,
): Promise<readonly string[]> {
  const routes = Object.values(table.routes).filter(({ name }) => route === undefined || name === route);
  const sources = await openSources(context, undefined);
  const keptIn = (ref: SecretRef): string => whereKept(context, ref);
  const agent = table.profiles.default?.agent;
  const missing = agent === undefined ? null : missingAgent(agent, { folder: context.home, env: context.env });
  return [
    ...describeRoutes(routes, { table, sources, keptIn }),
    ...(routes.length === 0 ? ['', 'There is no route yet: hookwright webhook subscribe <name>'] : []),
    ...(missing === null ? [] : ['', `The agent cannot run yet: ${missing}.`]),
  ];
}

/** The place that takes precedence if there are several. */
function whereKept(context: CliContext, ref: SecretRef): string {
  if (ref.kind === 'literal') return 'in the configuration';
  const { home, projectEnv = null, env } = context;
  const files = secretFiles(ref, { home, projectEnv, userHome: userHome(env) });
  const shown = (path: string): string => displayPath(path, context.cwd);
  if (ref.kind === 'file') return `in ${files.map(shown).join()}`;
  if (ref.scope === 'default' && (env[ref.value] ?? '') !== '') return 'in the environment';
  const found = files.findLast((path) => (parseEnvLines(readIfThere(path)).values.get(ref.value) ?? '') !== '');
  return found === undefined ? `to be set in ${files.map(shown).join(' or ')}` : `in ${shown(found)}`;
}
