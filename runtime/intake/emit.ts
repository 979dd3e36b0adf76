/**
 * Passes an event of the embedding program through the stages, without HTTP and signature, because the program vouches for it.
 */
import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { LinkedRoute } from '../table/linked-table.ts';
import type { Services, StageName } from './intake.ts';
import { Intake, REQUEST_STAGES } from './intake.ts';
import type { StagedRequest } from './keeper.ts';
import { parseJson } from './parse-json.ts';
import type { Outcome, Reply } from './reply.ts';
import { boundedId, eventName, giveId } from './stages/decide.ts';
import { IntakeRequest } from './unverified-bodies.ts';

/**
 * Options of an event, besides its payload.
 *
 * @example
 * ```ts
 * import type { EmitOptions } from 'hookwright/runtime';
 *
 * const options: EmitOptions = { event: 'order.paid', deliveryId: 'order-7' };
 * ```
 */
export interface EmitOptions {
  /** Event type, for `events` of the route. Default: read from the payload, if the source of the route has it there. */
  readonly event?: string;
  /** A later event with the same id is a duplicate. Default: a new one. */
  readonly deliveryId?: string;
  /** The profile of the route. Default: `default`. */
  readonly profile?: string;
}

/**
 * The outcome of an emitted event.
 *
 * @example
 * ```ts
 * import type { Emitted, Service } from 'hookwright/runtime';
 *
 * async function emit(service: Service): Promise<string> {
 *   const { outcome, reason }: Emitted = await service.emit('issues', { title: 'x' });
 *   return reason ?? outcome;
 * }
 * ```
 */
export interface Emitted {
  /** `accepted`, `coalesced`, `delivered`, `duplicate`, `ignored`, or the code of an error, such as `rate_limited`. */
  readonly outcome: Outcome;
  /** Why it was ignored or rejected, such as `filter`; null: the outcome says everything. */
  readonly reason: string | null;
  /** Event type; `unknown` if it has none. Empty if it was rejected before the type was read. */
  readonly event: string;
  /** The given id, or a new one. */
  readonly deliveryId: string;
  /** Id of its dispatch, as in the event `finished`; null if it has none. */
  readonly dispatch: string | null;
  /** The response body that an HTTP sender would get. */
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Stages of a request that also apply to an event without HTTP. */
const SHARED: ReadonlySet<StageName> = new Set(['open', 'rate_check', 'rate_consume']);

const isLeftOut = (stage: StageName): boolean => REQUEST_STAGES.some((name) => name === stage) && !SHARED.has(stage);

/** @throws TypeError if the payload is not JSON */
export function prepareEvent(
  route: LinkedRoute,
  payload: unknown,
  { event, deliveryId }: EmitOptions,
  services: Services,
): StagedRequest {
  const body = Buffer.from(JSON.stringify(payload) ?? '');
  const parsed = parseJson(body);
  if (!parsed.ok) throw new TypeError('emit: the payload must be a JSON value of at most 200 levels');
  const request = new IntakeRequest(new Socket());
  Object.assign(request, { method: 'POST', url: '/', headers: { 'content-type': 'application/json' } });
  const intake = new Intake(request, new ServerResponse(request), route, services.clock);
  intake.give(body, parsed.value);
  intake.authenticated = true;
  intake.scheme = route.plan.source ?? route.plan.schemes[0] ?? '';
  const identified = (): void => {
    if (event !== undefined) intake.event = eventName(event);
    const id = deliveryId === undefined ? services.ids.delivery(intake.receivedAt) : boundedId(deliveryId);
    giveId(intake, id, deliveryId === undefined);
  };
  return {
    intake,
    services,
    watcher: {
      skips: isLeftOut,
      passed: (stage) => {
        if (stage === 'identify') identified();
      },
    },
  };
}

/** Outcomes of events with a stored dispatch. */
const OWN: ReadonlySet<Outcome> = new Set(['accepted', 'delivered', 'delivery_failed']);

export function emittedEvent(intake: Intake, { outcome, body }: Reply): Emitted {
  const { reason, event, deliveryId, dispatch } = intake;
  const isOwn = OWN.has(outcome) && reason !== 'job_already_running';
  const answer = JSON.parse(body) as Emitted['answer'];
  return { outcome, reason, event, deliveryId, dispatch: isOwn ? (dispatch?.id ?? null) : null, answer };
}
