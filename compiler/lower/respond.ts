/** Lowers the responses that a sender expects (`respond` of a route or a source), and how long it may wait for one. */

import { isJson, isJsonType } from '../../base/text.ts';
import type {
  RespondConfig,
  ResponseConfig,
  ResponsePlan,
  ResponsePlans,
  TemplatePlan,
} from '../../schemas/generated/types.ts';
import { segments } from '../config/grammar.ts';
import type { NodePath, Planned, Problem } from '../diagnostics/diagnostic.ts';
import { takeInto } from '../diagnostics/diagnostic.ts';
import type { RouteView } from '../views/views.ts';
import { lowerTemplate } from './template.ts';

/** Headers that the server sets, that hold only for one connection, or that carry credentials. */
export const REFUSED_HEADERS = new Set(
  (
    'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade ' +
    'content-length content-type content-encoding date expect host authorization cookie set-cookie'
  ).split(' '),
);

/** Statuses without a body (RFC 9110). */
export const WITHOUT_BODY: ReadonlySet<number | undefined> = new Set([204, 205]);

const STATUS_URL = '{status_url}';

/** @param hasStatus false: accepted events have no status URL; null: that depends on the route */
export function lowerRespond(config: RespondConfig, hasStatus: boolean | null): Planned<ResponsePlans> {
  const problems: Problem[] = [];
  const plans = Object.entries(config).map(([outcome, response]: [string, ResponseConfig]) => {
    const noStatus =
      outcome !== 'accepted' ? `${outcome} events have none` : hasStatus === false ? 'set `status_url: true`' : null;
    return [outcome, lowerResponse(response, [outcome], noStatus, problems)] as const;
  });
  return { plan: Object.fromEntries(plans) as ResponsePlans, problems };
}

function lowerResponse(
  config: ResponseConfig,
  path: NodePath,
  noStatus: string | null,
  problems: Problem[],
): ResponsePlan {
  const { status, body, content_type, headers = {} } = config;
  const report = (key: NodePath, at: Problem['at'], message: string): void => {
    problems.push({ rule: 'response', path: [...path, ...key], at, message });
  };
  for (const name of Object.keys(headers))
    if (REFUSED_HEADERS.has(name.toLowerCase()))
      report(['headers', name], 'key', `a response cannot set \`${name}\`${instead(name)}`);
  for (const [name, text] of Object.entries(headers))
    if (segments(text).some(({ kind }) => kind !== 'text')) {
      const message = `\`${text}\` is sent literally: headers are fixed texts`;
      const hint = 'remove the placeholder, or write it into `body`';
      problems.push({ rule: 'template-braces', path: [...path, 'headers', name], at: 'value', message, hint });
    }
  if (WITHOUT_BODY.has(status) && (body ?? '') !== '')
    report(['body'], 'value', `a response with status ${status} has no body`);
  if (content_type !== undefined && body === undefined)
    report(['content_type'], 'key', '`content_type` has no effect without `body`');
  if (noStatus !== null && body?.includes(STATUS_URL) === true)
    report(['body'], 'value', `${STATUS_URL} is empty: ${noStatus}`);
  if (isJsonType(content_type ?? '') && !staysJson(body ?? ''))
    report(['body'], 'value', `the body is not JSON, as \`content_type\` says`);
  return {
    status: status ?? null,
    content_type: content_type ?? 'text/plain; charset=utf-8',
    body: body === undefined ? null : lowerBody(body, [...path, 'body'], problems),
    headers: Object.entries(headers).flat(),
  };
}

/** Each placeholder becomes JSON, or a part of a string; a list may need commas, which depend on it. */
const staysJson = (body: string): boolean =>
  body === '' ||
  body.includes('{#each') ||
  isJson(segments(body).reduce((text, part) => text + (part.kind === 'text' ? part.text : '0'), ''));

const instead = (name: string): string => (name.toLowerCase() === 'content-type' ? ': use `content_type`' : '');

function lowerBody(text: string, path: NodePath, problems: Problem[]): TemplatePlan {
  return (takeInto(problems)(lowerTemplate(text), path) ?? []).map((segment) =>
    segment.kind === 'path' && segment.text === STATUS_URL ? { kind: 'meta', name: 'status_url' } : segment,
  );
}

const SLOW_COMMIT_SECONDS = { least: 2.5, most: 8, spare: 2 };

/** An event of a sender that waits long and sends an id, so that its retry is recognised, waits longer for a slow disk. */
export function acceptTimeout({ config, facts, schemes, scope }: RouteView): number {
  const { least, most, spare } = SLOW_COMMIT_SECONDS;
  const hasId = schemes.some(({ delivery, delivery_digest }) => delivery.length > 0 || delivery_digest);
  const known = hasId ? Math.min(most, (facts?.deadline_seconds ?? 0) - spare) : 0;
  return config.accept_timeout_seconds ?? scope.table.server.accept_timeout_seconds ?? Math.max(least, known);
}
