/** The stages that find the event type and the delivery id, and decide whether the route accepts the event. */

import { isJsonObject } from '../../../base/exact-number.ts';
import type { Refusal, ReplayGuard } from '../../dispatch/dispatcher.ts';
import { orRefused } from '../../dispatch/dispatcher.ts';
import { isPrintable, printableStart } from '../../platform/log.ts';
import type { FilterSubject } from '../../table/link-filter.ts';
import type { Identity } from '../../table/link-identity.ts';
import { digestOf, isInBody } from '../../table/link-identity.ts';
import { MARKER_START } from '../../table/link-loop.ts';
import { plainPayload, replacePayload } from '../../verify/items.ts';
import { readFirst } from '../../verify/request.ts';
import type { Intake, Services, Stage } from '../intake.ts';
import type { IgnoredReason, Reply, Subject } from '../reply.ts';
import { duplicate, ignored, retryLater } from '../reply.ts';
import type { ScriptOutcome } from '../script-runner.ts';

/** The type of an event without one. */
export const UNKNOWN_EVENT = 'unknown';
/** Maximum length of an event type, in UTF-16 units; real ones are far shorter. */
export const EVENT_LIMIT = 256;
/** Maximum length of a delivery id, in UTF-16 units. A longer one is replaced by its digest; truncation could merge two ids. */
const ID_LIMIT = 256;

export const identify: Stage = (intake, { ids }) => {
  const { limits, plan, identityOf } = intake.route;
  const identity = identityOf(intake.scheme);
  intake.event = eventName(sentEvent(intake, identity) ?? UNKNOWN_EVENT);
  const { partOf } = intake;
  const sent = partOf === null ? sentId(intake, identity) : itemId(intake, identity);
  const generated = sent === null && (partOf === null || partOf.request.claim?.generated === true);
  intake.deliveryId = sent ?? (partOf === null ? ids.delivery(intake.receivedAt) : idInBatch(partOf));
  const guard = partOf === null ? guardOf(intake, identity) : guardInBatch(partOf);
  intake.claim = {
    profile: plan.profile,
    route: plan.name,
    delivery_id: intake.deliveryId,
    generated,
    ttl_ms: limits.idempotencyTtlMs,
    wait_ms: limits.acceptTimeoutMs,
    ...(guard === null ? {} : { guard }),
  };
  return null;
};

/** Gives the event another id, without a replay guard: it does not come from a sender. */
export function giveId(intake: Intake, deliveryId: string, generated: boolean): void {
  intake.deliveryId = deliveryId;
  if (intake.claim === null) return;
  const { guard: _guard, ...claim } = intake.claim;
  intake.claim = { ...claim, delivery_id: deliveryId, generated };
}

/** The replay guard of an event that nothing signed identifies, or whose route or source has one for all events. */
function guardOf(intake: Intake, { guard: ofSource, bodyGuard }: Identity): ReplayGuard | null {
  const guard = intake.route.plan.replay_guard === undefined ? ofSource : bodyGuard;
  if (guard === null || readFirst(guard.signed, intake, true) !== null) return null;
  // It is stored like an id; no id has a line feed (`boundedId`).
  return { name: `\n${guard.digest(intake)}`, ttl_ms: guard.ttlMs(intake.route.limits.idempotencyTtlMs) };
}

/** The signature covers the whole batch, so each item has a part of its guard. */
function guardInBatch({ request, index }: NonNullable<Intake['partOf']>): ReplayGuard | null {
  const guard = request.claim?.guard;
  return guard === undefined ? null : { ...guard, name: `${guard.name}#${index}` };
}

/** The id of an item itself, from its own text; null: it has none. */
function itemId(intake: Intake, { delivery }: Identity): string | null {
  const id = readFirst(delivery.filter(isInBody), intake, true);
  return id === null ? (intake.partOf?.digest ?? null) : boundedId(id);
}

/** The id of an item that has none itself. */
export const idInBatch = ({ request, index }: NonNullable<Intake['partOf']>): string =>
  boundedId(`${request.deliveryId}#${index}`);

function sentEvent(intake: Intake, { event, eventFallback }: Identity): string | null {
  return readFirst(event, intake, true) ?? readFirst(eventFallback, intake, false);
}

function sentId(intake: Intake, { delivery, digest }: Identity): string | null {
  const id = readFirst(delivery, intake, true);
  if (id === null) return digest === null ? null : digest(intake);
  return boundedId(id);
}

export const eventName = (sent: string): string => printableStart(sent, EVENT_LIMIT);

export const boundedId = (sent: string): string =>
  sent.length <= ID_LIMIT && isPrintable(sent) ? sent : digestOf(sent);

/** Ignores events that a filter of the route does not match. */
export const applyFilters: Stage = (intake) => {
  const { lists } = intake.route;
  if (lists.length === 0) return decide(intake);
  const changes = lists.map((list) => list.refresh()).filter((change) => change !== null);
  return changes.length === 0 ? decide(intake) : Promise.all(changes).then(() => decide(intake));
};

function decide(intake: Intake): Reply | null {
  const { filter } = intake.route;
  if (filter === null) return null;
  return filter.matches(subjectOf(intake)) ? null : ignore(intake, 'filter');
}

/** Ignores events that are older on arrival than the route accepts (decisions §4). */
export const checkAge: Stage = (intake) => {
  const { maxAge } = intake.route;
  if (maxAge === null) return null;
  const age = maxAge.ageOf(subjectOf(intake), intake.cameAt);
  if (age === null || age <= maxAge.maxMs) return null;
  return ignore(intake, 'age', `${Math.round(age / 1000)} s old; at most ${maxAge.maxMs / 1000} s are accepted`);
};

/** The values of an event that filters read. */
export function subjectOf({ data, event, headers }: Intake): FilterSubject {
  return { payload: data, event, headers };
}

/** Ignores events whose type the route does not accept (§2.1). */
export const matchEvent: Stage = (intake) => (acceptsEvent(intake) ? null : ignore(intake, 'event'));

/** By its type or a more exact name. A route without `events` accepts all except those that test the connection. */
function acceptsEvent(intake: Intake): boolean {
  const { route, event, scheme } = intake;
  const { tests, details } = route.identityOf(scheme);
  if (route.plan.events === null) return !tests.has(event);
  if (route.events.accepts(event)) return true;
  return (details.get(event) ?? []).some((at) => {
    const name = readFirst([at], intake, false);
    return name !== null && route.events.accepts(eventName(name));
  });
}

/**
 * Ends duplicates. Before a script runs, this must be certain, because scripts have side effects (decisions §4). Without a
 * script, a duplicate that is missed here is found when the event is stored.
 */
export const answerSeen: Stage = (intake, services) => {
  const { claim, route } = intake;
  if (claim === null || (claim.generated && claim.guard === undefined)) return null;
  if (services.dispatcher.isKnownDone(claim)) return refuse(intake, { kind: 'duplicate' });
  return route.script === null ? null : lookUp(intake, services);
};

async function lookUp(intake: Intake, { dispatcher }: Services): Promise<Reply | null> {
  const refusal = intake.claim === null ? null : await dispatcher.refuseRepeat(intake.claim);
  return refusal === null ? null : refuse(intake, refusal);
}

/**
 * Ignores events caused by this installation: its account sent them, or their text contains the marker of its posts. An event
 * with the marker of another installation belongs to an exchange, which counts as its own kind of run (run-limits.ts).
 */

export const checkLoop: Stage = (intake, services) => {
  const { body, route, scheme } = intake;
  const { ownLogin = unknown } = services;
  intake.author = route.loop.authorOf(scheme, intake.data);
  if (!route.plan.allow_own_events && route.loop.isOwnSender(scheme, intake.data, ownLogin))
    return ignore(intake, 'loop', 'the sender is the account with which the gateway posts');
  return body.includes(MARKER_START) ? checkMarkers(intake, services) : null;
};

const unknown = (): null => null;

async function checkMarkers(intake: Intake, { installation }: Services): Promise<Reply | null> {
  const { route, scheme, data } = intake;
  const found = route.loop.installationsIn(scheme, data);
  if (found.size === 0) return null;
  const own = await orRefused(installation());
  if (typeof own !== 'string') return refuse(intake, own);
  if (found.has(own)) {
    return route.plan.allow_own_events ? null : ignore(intake, 'loop', 'this gateway posted the text of the event');
  }
  intake.isExchange = true;
  return null;
}

/** Retry time after a program could not be started, in seconds. */
const BUSY_SECONDS = 5;

/** Runs the script of the route, which may ignore the event or transform its payload (§2.6). */
export const runScript: Stage = (intake, services) => (intake.route.script === null ? null : run(intake, services));

async function run(intake: Intake, { runScript, log }: Services): Promise<Reply | null> {
  const { plan, script } = intake.route;
  if (script === null) return null;
  const { event, deliveryId, data } = intake;
  const outcome = await runScript({
    script,
    profile: plan.profile,
    route: plan.name,
    event,
    deliveryId,
    payload: data,
  });
  if (outcome.kind === 'ignored' && outcome.failed) {
    log.warn({ route: plan.name, event, delivery_id: deliveryId, reason: outcome.reason }, 'script failed');
  }
  return apply(intake, outcome);
}

function apply(intake: Intake, outcome: ScriptOutcome): Reply | null {
  switch (outcome.kind) {
    case 'payload':
      intake.data = replacePayload(intake.data, outcome.payload);
      return null;
    case 'text':
      intake.data = replacePayload(intake.data, withOutput(plainPayload(intake.data), outcome.text));
      return null;
    case 'ignored':
      return ignore(intake, 'script', outcome.reason);
    case 'busy':
      intake.reason = 'script_busy';
      intake.detail = outcome.reason;
      return retryLater('overloaded', BUSY_SECONDS);
  }
}

/** Adds the script's output as a key. A payload that is not an object is first wrapped as `payload`. */
function withOutput(data: unknown, text: string): Record<string, unknown> {
  return isJsonObject(data) ? { ...data, script_output: text } : { payload: data, script_output: text };
}

/** @param detail logged for the operator, in addition to the reason, which the sender also sees */
export function ignore(intake: Intake, reason: IgnoredReason, detail: string | null = null): Reply {
  intake.reason = reason;
  intake.detail = detail;
  return ignored(answeredEvent(intake), reason);
}

/** The reply to a rejected event; stores the reason in the intake. */
export function refuse(intake: Intake, refusal: Refusal): Reply {
  if (refusal.kind === 'duplicate') return duplicate(answeredEvent(intake));
  if (refusal.kind === 'overloaded') intake.reason = refusal.reason;
  return retryLater(refusal.kind, refusal.retry_after_seconds);
}

/** The fields that identify an event in responses. */
export function answeredEvent({ route, event, deliveryId }: Intake): Subject {
  return { route: route.plan.name, event, delivery_id: deliveryId };
}
