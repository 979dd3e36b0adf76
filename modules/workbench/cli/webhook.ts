/** `hookwright webhook test`: sends a signed event to a route, as its sender would, and prints the answer. */

import { messageOf } from '../../../base/errors.ts';
import { readJson } from '../../../base/exact-number.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import { loadPart } from '../../../cli/base/module.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { argument, command, flag, text } from '../../../cli/command-line/command.ts';
import { configOption } from '../../../cli/command-line/options.ts';
import { printJson, printLine, printNote, visible } from '../../../cli/output/print.ts';
import { canPrompt, createPrompter } from '../../../cli/output/prompter.ts';
import { findRoute, localBase, openTable, routePath } from '../../../cli/subscriptions/routes.ts';
import { createSecrets, SecretError } from '../../../runtime/platform/secrets.ts';
import { Item, itemsOf, valueAtPath } from '../../../runtime/verify/items.ts';
import type { RoutePlan, RouteTable } from '../../../schemas/generated/types.ts';
import type { Explained } from './explain/explain-route.ts';
import { typedSecretRef } from './explain/format-explanation.ts';
import { inlineBody, readPayloadFile, requestTo } from './explain/read-request.ts';
import { SignError } from './test-event/sign-body.ts';
import type { TestEvent, TestEventRequest } from './test-event/sign-test-event.ts';
import { leavingMessages, looksLikeForm, signTestEvent } from './test-event/sign-test-event.ts';

/** Timeout in ms, longer than the answer to a direct delivery takes. */
const ANSWER_MS = 120_000;

const options = {
  payload: text(
    'json|form|@file',
    "The body; @file reads a file (default: made-up values for the fields that the route's filters and templates read)",
  ),
  event: text('type', 'Event type (default: the first that the route accepts)'),
  source: text('name', "Sign as this source, instead of the route's source"),
  key: text(
    'ref',
    "Sign with this secret instead of the route's: env:NAME, file:path (a private key as PEM) or the secret itself",
  ),
  url: text('url', 'Send the event to this URL, for example the public address'),
  config: configOption,
  yes: flag('Do not ask before a made-up payload sends a message to another machine'),
  dryRun: flag('Send nothing; show what the gateway would do with the event'),
  json: flag('Print status, headers and body as JSON'),
};
const args = { route: argument('route') };

type Input = ValuesOf<typeof options> & ValuesOf<typeof args>;

export const webhookTestCommand = command({
  options,
  args,
  async run(context, given) {
    const open = await openTable(context, given.config);
    const { plan } = findRoute(context, given.route, open);
    const payloads = await loadPart(context.modules, 'payloads');
    const eventRequest = {
      plan,
      table: open.table,
      event: given.event,
      body: body(context, given),
      source: given.source,
      key: given.key === undefined ? null : typedSecretRef(context, given.key),
      sample: (scheme: string | null, event: string | null) =>
        payloads.sample(plan, event, scheme, context.clock.now()),
      secrets: createSecrets(context),
      now: context.clock.now(),
      random: context.random,
    };
    const signed = withRouteName(given.route, () =>
      given.dryRun ? signIfPossible(eventRequest) : signTestEvent(eventRequest),
    );
    if (given.dryRun) {
      const { isTaken, json, lines } = await explained(context, plan, open.table, signed);
      if (given.json) printJson(context, json);
      else for (const line of lines) printLine(context, line);
      return isTaken ? 0 : 1;
    }
    if (given.payload === undefined && !given.yes) await askBeforeMessages(context, plan, open.table, signed);
    const url = given.url ?? localBase(open) + routePath(plan);
    printNote(context, `POST ${url} (${signed.scheme}${signed.event === null ? '' : `, ${signed.event}`})`);
    const missing = unresolvedIn(
      plan,
      itemIn(parsed(signed.body.toString('utf8')), open.table.schemes[signed.scheme ?? '']?.each),
    );
    if (missing.length > 0) printNote(context, `not in the payload: ${missing.join(', ')}`);
    const answer = await send(context, url, signed);
    const text = await answer.text();
    const { status, headers } = answer;
    if (given.json) printJson(context, { status, headers: Object.fromEntries(headers), body: parsed(text) });
    else printLine(context, `${status} ${text}`);
    return answer.ok ? 0 : 1;
  },
});

/** Leaves the event unsigned if the route's secret is missing; this is reported with everything else that stops `serve`. */
function signIfPossible(eventRequest: TestEventRequest): TestEvent {
  try {
    return signTestEvent(eventRequest);
  } catch (error) {
    if (!(error instanceof SecretError) || eventRequest.key !== null) throw error;
    return signTestEvent({ ...eventRequest, plan: { ...eventRequest.plan, insecure: true }, source: undefined });
  }
}

/** @throws CliError if the user declines the messages, or no terminal is there to ask */
async function askBeforeMessages(
  context: CliContext,
  plan: RoutePlan,
  table: RouteTable,
  signed: TestEvent,
): Promise<void> {
  const messages = leavingMessages(plan, table, await explained(context, plan, table, signed));
  if (messages.length === 0) return;
  const what = `a made-up event would send a message to ${messages.map(visible).join(', and to ')}`;
  if (!canPrompt(context)) {
    throw new CliError(
      what,
      'send it anyway: --yes',
      'show the result without sending: --dry-run',
      'use a real payload: --payload @event.json',
    );
  }
  if (!(await createPrompter(context).confirm(`${what}. Send it?`, false))) throw new CliError('nothing was sent');
}

/** Runs the signed request through the stages, without effects. */
async function explained(
  context: CliContext,
  plan: RoutePlan,
  table: RouteTable,
  { query, headers, body, event }: TestEvent,
): Promise<Explained> {
  const request = requestTo(routePath(plan) + query, Object.entries(headers), body);
  const { explainSent } = await import('./explain/explain-route.ts');
  return explainSent(context, { plan, table, request, event });
}

function body(context: CliContext, given: Input): Buffer | null {
  if (given.payload === undefined) return null;
  if (given.payload.startsWith('@')) return readPayloadFile(context, given.payload.slice(1));
  if (looksLikeForm(given.payload)) return Buffer.from(given.payload, 'utf8');
  return inlineBody(given.payload);
}

/** Runs `work`, and adds the route's name to its errors. */
function withRouteName<Result>(route: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof SecretError || error instanceof SignError)
      throw new CliError(`route "${route}": ${error.message}`);
    throw error;
  }
}

async function send(context: CliContext, url: string, { query, headers, body }: TestEvent): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    return await context.fetch(url + query, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      signal,
      redirect: 'manual',
    });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new CliError(`no answer from ${url}: ${messageOf(cause)}`, 'start the gateway: hookwright gateway run');
  }
}

/** The first item of a batch, or the whole body as one; else the payload. */
const itemIn = (payload: unknown, lists: Parameters<typeof itemsOf>[1] = []): unknown => {
  if (lists.length === 0) return payload;
  const items = itemsOf(payload, lists, Infinity);
  return items === 'too_many' ? payload : (items?.[0] ?? new Item(payload, payload, undefined));
};

/** Returns the placeholders of the prompt and the addresses that a JSON payload does not resolve. */
function unresolvedIn({ prompt, deliver, script }: RoutePlan, payload: unknown): readonly string[] {
  // A script may replace the payload with anything.
  if (script !== null || typeof payload === 'string') return [];
  const segments = [prompt, ...deliver.flatMap(({ extra }) => Object.values(extra))].flat();
  const missing = segments.flatMap((segment) => {
    if (segment.kind !== 'path' && (segment.kind !== 'each' || segment.path.length === 0)) return [];
    const isResolved = segment.path.length > 0 && valueAtPath(payload, segment.path) !== undefined;
    return isResolved ? [] : [segment.text];
  });
  return [...new Set(missing)].filter((text) => !BUILT_IN.has(text));
}

const BUILT_IN: ReadonlySet<string> = new Set(['{event_type}', '{route}', '{delivery_id}']);

/** Parses JSON, because the output is for programs; other text is returned unchanged. */
function parsed(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}
