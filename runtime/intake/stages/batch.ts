/**
 * Batches: the events of one request. Each item of the body passes the stages of an event by itself; then one commit stores all
 * of them, and one response answers for all.
 *
 *   items ──> decide, each ──> one is refused: nothing is stored, and the sender retries ──> 503
 *               └────────────> dispatch, all together ──> stored or delivered ──> 202, 200
 *                                └────> a direct delivery has failed: only the others are claimed ──> 502
 */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { Together } from '../../store/together.ts';
import type { Item } from '../../verify/items.ts';
import type { BatchEvent, Intake, Services } from '../intake.ts';
import { EVENT_STAGES } from '../intake.ts';
import type { Outcome, Reply } from '../reply.ts';
import { ACCEPTED_OUTCOMES, batchFailed, batchReply, deliveryFailed, PAYLOAD_TOO_LARGE } from '../reply.ts';
import { answeredEvent, eventName, ignore } from './decide.ts';

interface EventStages {
  /** All stages before the last one; null: the event is rendered. */
  readonly decide: (event: Intake) => Promise<Reply | null>;
  readonly dispatch: (event: Intake) => Promise<Reply>;
}

/** Maximum number of events whose scripts, or whose direct deliveries, run at once. */
const AT_ONCE = 8;
/** Maximum length of all prompts and addresses of a batch, in UTF-16 units: each may contain the whole body. */
const MAX_CHARS = 32 * 1024 * 1024;

/** Answers a batch whose request is identified. */
export async function answerBatch(
  request: Intake,
  items: readonly Item[],
  stages: EventStages,
  services: Services,
): Promise<Reply> {
  if (items.length === 0) return ignore(request, 'empty');
  const digests = request.route.identityOf(request.scheme).itemDigests?.(request) ?? [];
  const events = items.map((item, index) => request.ofItem(item, index, digests[index] ?? null));
  const replies = new Map<Intake, Reply>();
  let chars = 0;
  let refusal: BatchEvent | null = null;
  await forEach(events, async (intake) => {
    const reply = refusal === null ? await stages.decide(intake) : null;
    if (intake.dispatch !== null) chars += sizeOf(intake.dispatch);
    if (chars > MAX_CHARS) refusal ??= { intake, reply: PAYLOAD_TOO_LARGE };
    else if (reply !== null && reply.status >= 400) refusal ??= { intake, reply };
    if (reply !== null) replies.set(intake, reply);
  });
  if (refusal !== null) return refuseAll(request, refusal);
  request.release();
  const open = events.filter((event) => !replies.has(event));
  const made = request.route.plan.mode === 'direct' ? deliverEach : storeTogether;
  for (const [event, reply] of await made(open, stages.dispatch, services)) replies.set(event, reply);
  const answered = events.flatMap((intake): readonly BatchEvent[] => {
    const reply = replies.get(intake);
    return reply === undefined ? [] : [{ intake, reply }];
  });
  return answerFor(request, answered);
}

const sizeOf = ({ prompt, deliveries }: Dispatch): number =>
  deliveries.reduce((sum, { extra }) => sum + Object.values(extra).join('').length, prompt.length);

/** A part of a batch is never stored alone: its sender could not know which. */
function refuseAll(request: Intake, { intake, reply }: BatchEvent): Reply {
  request.reason = reply === PAYLOAD_TOO_LARGE ? 'batch_too_large' : intake.reason;
  request.detail = intake.detail;
  request.stage = intake.stage ?? 'render';
  return reply;
}

type DispatchEvents = (
  events: readonly Intake[],
  dispatch: EventStages['dispatch'],
  services: Services,
) => Promise<Iterable<readonly [Intake, Reply]>>;

/** Stores all events with one commit, in their order. */
const storeTogether: DispatchEvents = (events, dispatch) => {
  const together = new Together(events.length);
  return Promise.all(
    events.map(async (event) => {
      if (event.claim !== null) event.claim = { ...event.claim, together };
      try {
        const reply = await dispatch(event);
        together.leave(reply.status >= 500);
        return [event, reply] as const;
      } catch (error) {
        together.leave(true);
        throw error;
      }
    }),
  );
};

/** Delivers a few events at a time. Once the time of the sender is over, the rest is left to its retry. */
const deliverEach: DispatchEvents = async (events, dispatch, { clock }) => {
  const replies: [Intake, Reply][] = [];
  const until = clock.monotonic() + (events[0]?.route.limits.directTimeoutMs ?? 0);
  await forEach(events, async (event) => {
    const isLate = clock.monotonic() >= until;
    if (isLate) event.reason = 'delivery_failed';
    replies.push([event, isLate ? deliveryFailed(event.deliveryId, []) : await dispatch(event)]);
  });
  return replies;
};

/** Calls `work` for each event, for a few at a time. */
async function forEach(events: readonly Intake[], work: (event: Intake) => Promise<void>): Promise<void> {
  const left = events.values();
  const workers = Array.from({ length: Math.min(AT_ONCE, events.length) }, async () => {
    for (const event of left) await work(event);
  });
  await Promise.all(workers);
}

/** The outcome of a batch: the first of these that an event has. */
const OUTCOMES: readonly Outcome[] = [...ACCEPTED_OUTCOMES, 'ignored', 'duplicate'];

/** The response for all events, in their order. */
function answerFor(request: Intake, events: readonly BatchEvent[]): Reply {
  const has = (outcome: Outcome): boolean => events.some(({ reply }) => reply.outcome === outcome);
  const failed = events.filter(({ reply }) => reply.status >= 400);
  // The others are refused because of it.
  const cause = failed.find(({ intake }) => intake.reason !== 'store_unavailable') ?? failed[0];
  const isTried = has('delivered') || has('delivery_failed');
  if (cause !== undefined && !isTried) return refuseAll(request, cause);
  request.events = events;
  request.event = eventName([...new Set(events.map(({ intake }) => intake.event))].join(', '));
  request.stage = EVENT_STAGES.findLast((stage) => events.some(({ intake }) => intake.stage === stage)) ?? null;
  const listed = events.map(({ intake, reply }) => {
    const { route: _route, ...own } = { route: '', ...reply.fields };
    return { event: intake.event, delivery_id: intake.deliveryId, ...own };
  });
  if (failed.length > 0) {
    request.reason = 'delivery_failed';
    return batchFailed(listed);
  }
  const outcome = OUTCOMES.find(has) ?? 'ignored';
  const reasons = new Set(events.map(({ intake }) => intake.reason));
  request.reason = reasons.size === 1 ? ([...reasons][0] ?? null) : null;
  return batchReply(outcome, answeredEvent(request).route, listed);
}
