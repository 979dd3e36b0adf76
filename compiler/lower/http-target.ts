/**
 * Lowers `platforms.http`, a service of the user's own: URL, headers and body become a variant of the shipped target `http`,
 * one for each profile, and its headers settings of the target, so that references are resolved like other credentials.
 */
import { WEBHOOK_SECRET, webhookKey } from '../../base/webhook-key.ts';
import type {
  HttpTargetConfig,
  ProfileConfig,
  RequestPlan,
  SettingPlan,
  TargetPlan,
  VariantPlan,
} from '../../schemas/generated/types.ts';
import { HTTP_TARGET, httpEntry } from '../config/target-entries.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import { lowerEndpointBody } from './endpoint/body.ts';
import { headerSetting, lowerEndpointHeaders } from './endpoint/headers.ts';
import { lowerUrl } from './endpoint/url.ts';
import type { ReportValue } from './endpoint/value.ts';

type Endpoint = Pick<VariantPlan, 'address' | 'base' | 'requests' | 'webhook'> & { readonly settings: SettingPlan[] };

/** By profile. Paths of problems are relative to the entry under `platforms`. */
export type Endpoints = ReadonlyMap<string, Lowered<Endpoint>>;

export const lowerEndpoints = (
  profiles: readonly { readonly name: string; readonly config: ProfileConfig }[],
): Endpoints =>
  new Map(
    profiles.flatMap(({ name, config }) => {
      const entry = httpEntry(config);
      return entry === undefined ? [] : [[name, lowerEndpoint(entry)]];
    }),
  );

/** The target with a variant for each profile that sets it up. What is wrong is reported with the profile's bindings. */
export function withEndpoints(
  targets: Readonly<Record<string, TargetPlan>>,
  lowered: Endpoints,
): Readonly<Record<string, TargetPlan>> {
  const target = targets[HTTP_TARGET];
  const [like] = target?.variants ?? [];
  if (target === undefined || like === undefined) return targets;
  const endpoints = [...lowered].flatMap(([name, { plan }]) => (plan === null ? [] : [{ name, ...plan }]));
  if (endpoints.length === 0) return targets;
  const byName = <T extends { readonly name: string }>(all: readonly T[]): T[] => [
    ...new Map(all.map((one) => [one.name, one])).values(),
  ];
  // What is secret in one profile is in all.
  const headers = endpoints
    .flatMap((endpoint) => endpoint.settings)
    .sort((a, b) => Number(a.secret) - Number(b.secret));
  return {
    ...targets,
    [HTTP_TARGET]: {
      ...target,
      settings: byName([...target.settings, ...headers]),
      address: byName(endpoints.flatMap(({ address }) => address)),
      variants: endpoints.map(({ settings: _, ...endpoint }) => ({ ...like, ...endpoint })),
    },
  };
}

function lowerEndpoint(config: HttpTargetConfig): Lowered<Endpoint> {
  const problems: Problem[] = [];
  const report: ReportValue = (path, message, more) =>
    problems.push({ rule: 'invalid-value', path, at: 'value', message, ...more });
  const url = lowerUrl(config, report);
  const headers = lowerEndpointHeaders(config, report);
  const body = lowerEndpointBody(config, url?.address.map(({ name }) => name) ?? [], report);
  if (config.secret !== undefined) checkSecret(config.secret, report);
  if (url === null || problems.length > 0) return { plan: null, problems };
  const request: RequestPlan = {
    chat_id: null,
    thread: null,
    method: config.method ?? 'POST',
    path: url.path,
    query: [],
    basic: null,
    headers: [...body.headers, ...headers],
    body: body.plan,
  };
  const settings = Object.entries(config.headers ?? {}).map(([name, value]) => headerSetting(name, value));
  const base: VariantPlan['base'] = [{ kind: 'text', text: url.origin }];
  const webhook = { allow_private: config.allow_private === true };
  return { plan: { base, address: url.address, requests: [request], webhook, settings }, problems };
}

/** As the libraries of Standard Webhooks read it. References are checked when they are resolved. */
function checkSecret(text: string, report: ReportValue): void {
  const read = parseSecretRef(text, '');
  if (read.kind !== 'literal' || webhookKey(read.value) !== null) return;
  report(['secret'], WEBHOOK_SECRET, { sensitive: true });
}
