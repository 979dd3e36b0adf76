/** What remains to be done at each sender: URL, secret, and the sender's own steps. */
import { parseEnvLines } from '../../../../base/env-lines.ts';
import { isLoopback } from '../../../../base/listen-address.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { visible } from '../../../../cli/output/print.ts';
import type { OpenSources } from '../../../../cli/sources/open-sources.ts';
import { openSources } from '../../../../cli/sources/open-sources.ts';
import { publicRouteUrl } from '../../../../cli/subscriptions/routes.ts';
import { displayPath } from '../../../../compiler/source/display-path.ts';
import { describeSecret, setupSteps } from '../../../../compiler/sources/describe-source.ts';
import { missingAgent } from '../../../../runtime/dispatch/agents/program.ts';
import { userHome } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import { secretFiles } from '../../../../runtime/platform/secrets/secret-resolver.ts';
import { printSecretRef } from '../../../../runtime/platform/secrets/secrets.ts';
import type { RoutePlan, RouteTable, SecretRef } from '../../../../schemas/generated/types.ts';
import { readIfThere } from '../setup/config-file.ts';

interface RoutesContext {
  readonly table: RouteTable;
  readonly sources: OpenSources;
  /** Where the value of a reference is kept, such as `in .env`. */
  readonly keptIn: (ref: SecretRef) => string;
}

/** The text, a paragraph for each route. */
export function describeRoutes(routes: readonly RoutePlan[], context: RoutesContext): readonly string[] {
  const paragraphs = routes.flatMap((route) => ['', ...describeRoute(route, context)]);
  return isOutOfReach(routes, context) ? [...paragraphs, ...OUT_OF_REACH] : paragraphs;
}

/** Whether a route expects a known sender at an address that only this machine can reach. */
const isOutOfReach = (routes: readonly RoutePlan[], { table: { server } }: RoutesContext): boolean =>
  server.public_url === null && isLoopback(server.host) && routes.some(({ source }) => source !== null);

const OUT_OF_REACH: readonly string[] = [
  '',
  'A sender on another machine cannot reach these URLs. Open a proxy or a tunnel to',
  'them, and set `public_url` to its address: `hookwright docs proxies`',
];

function describeRoute(route: RoutePlan, { table, sources, keptIn }: RoutesContext): readonly string[] {
  const url = publicRouteUrl(route, { table, url: null });
  const secrets = route.secrets.map(({ ref }) => `${printSecretRef(ref)}, ${keptIn(ref)}`).join('; ');
  const secret = route.insecure ? 'none: signatures are not checked' : secrets;
  const source = route.source === null ? null : sources.find(route.source).file;
  const steps = source === null ? GENERIC : setupSteps(source);
  const form = source === null ? null : describeSecret(source);
  return [
    `${route.name}: ${visible(route.description ?? 'a route')}`,
    `  URL:    ${visible(url)}`,
    `  Secret: ${visible(secret)}${form === null ? '' : ` (${form})`}`,
    ...steps.map((step, index) => `  ${index + 1}. ${visible(step.replaceAll('{url}', url))}`),
  ];
}

/** For a route that accepts any sender with a common signature scheme. */
const GENERIC: readonly string[] = [
  'Enter `{url}` as the URL of the webhook at the sender, content type JSON.',
  'Enter the secret there. `hookwright source list` names the senders that are known, `source show` their steps.',
];

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
