/** What is left to do at each sender once a config is there: URL, secret, and the sender's own steps. */
import { describeSecret, setupSteps } from '../../compiler/sources/describe-source.ts';
import { printSecretRef } from '../../runtime/platform/secrets/secrets.ts';
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import { visible } from '../output/print.ts';
import type { OpenSources } from '../sources/open-sources.ts';
import type { OpenTable } from '../subscriptions/open-table.ts';
import { publicRouteUrl } from '../subscriptions/route-url.ts';

/** Lines for a person, a paragraph for each route. */
export function describeRoutes(table: RouteTable, sources: OpenSources): readonly string[] {
  const open = { table, url: null };
  return Object.values(table.routes).flatMap((route) => ['', ...describeRoute(route, open, sources)]);
}

function describeRoute(
  route: RoutePlan,
  open: Pick<OpenTable, 'table' | 'url'>,
  sources: OpenSources,
): readonly string[] {
  const url = publicRouteUrl(route, open);
  const secrets = route.secrets.map(({ ref }) => printSecretRef(ref)).join(', ');
  const source = route.source === null ? null : sources.find(route.source).file;
  const steps = source === null ? GENERIC : setupSteps(source);
  const form = source === null ? null : describeSecret(source);
  return [
    `${route.name}: ${visible(route.description ?? 'a route')}`,
    `  URL:    ${visible(url)}`,
    `  Secret: ${visible(secrets)}, in .env${form === null ? '' : ` (${form})`}`,
    ...steps.map((step, index) => `  ${index + 1}. ${visible(step.replaceAll('{url}', url))}`),
  ];
}

/** For a route that takes whoever signs in one of the usual ways. */
const GENERIC: readonly string[] = [
  'Enter `{url}` as the URL of the webhook at the sender, content type JSON.',
  'Enter the secret there. `hookwright source list` names the senders that are known, `source show` their steps.',
];
