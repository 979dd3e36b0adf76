/**
 * Random changes for any store. Each lacks the parts that must differ every time (id, time), which are added when it is
 * made.
 */
import fc from 'fast-check';
import { sessionId } from '../../../../runtime/platform/ids.ts';
import type { Advance, Mutation } from '../../../../runtime/store/contract.ts';
import type { ClaimKey, PauseRoute } from '../../../../runtime/store/records.ts';
import type { RunLimit } from '../../../../runtime/store/run-limits.ts';
import { FINAL_STATES } from '../../../../runtime/store/states.ts';
import { openDelivery } from '../../../../runtime/store/unit/blocked.ts';
import type { RunUsage } from '../../../../runtime/store/usage.ts';
import {
  deliveriesTo,
  HOLDER,
  makeAccept,
  makeAttempt,
  makeClaim,
  makeDispatch,
  makeJoin,
  makeStep,
  makeTake,
  openDeliveries,
} from '../../../helpers/dispatches.ts';
import { makeFire, makeJob, makeTick } from '../../../helpers/jobs.ts';

/** `ref` in the change is a position in the order of storing. */
export type Recipe = (id: string, now: number) => Mutation | 'restart' | 'crash';

const small = fc.integer({ min: 0, max: 5 });
const deliveryId = fc.constantFrom('1', '2', '3', 'x\0y', '\ud800');
/** The replay guard of an event; most have none. */
const guard = fc.constantFrom(undefined, undefined, '\ng1', '\ng2');
const guardAt = (name: string | undefined, guard_expires_at: number) =>
  name === undefined ? {} : { guard: name, guard_expires_at };
const route = fc.constantFrom('alerts', 'other');
const place = fc.integer({ min: 0, max: 15 });
const holder = fc.constantFrom('one', 'one', 'two');
const job = fc.constantFrom('j', 'k');
const agent = fc.constantFrom(null, null, 'reviewer');
/** Most events belong to one of a few sessions, whose runs take turns. */
const session = fc
  .tuple(fc.constantFrom(null, 's', 's', 't\0'), fc.constantFrom(undefined, undefined, 'latest', 'cancel'))
  .map(([key, on_newer]) => ({
    ...(key === null ? {} : { session_key: key, session: sessionId('webhook', 'alerts', key) }),
    ...(on_newer === undefined ? {} : { on_newer: on_newer as 'latest' | 'cancel' }),
  }));
const TARGETS = ['log', 'email'];

const accept = fc
  .record({
    deliveryId,
    route,
    ttl: small,
    generated: fc.boolean(),
    later: fc.boolean(),
    approve: fc.boolean(),
    holder,
    cap: fc.option(small),
    ...{ agent, session, guard },
  })
  .chain((parts) => fc.record({ parts: fc.constant(parts), work: fc.constantFrom('run', 'run', 'deliveries', 'held') }))
  .map(({ parts, work }): Recipe => {
    const { deliveryId, route, ttl, generated, later, approve, holder, cap, agent, session, guard } = parts;
    return (id, now) => {
      // A text and an address that differ between attempts of the sender.
      const extra: Record<string, string> = ttl > 3 ? { chat_id: String(ttl) } : {};
      const approved = approve ? { approve_ms: 20 + ttl * 20 } : {};
      const deliveries = deliveriesTo(...TARGETS).map((one, index) =>
        index === 0 ? { ...one, extra } : { ...one, ...approved },
      );
      const byId = makeClaim(deliveryId, now + ttl * 40, { route, ...guardAt(guard, now + ttl * 30) });
      const byGuard = guard === undefined ? null : makeClaim(guard, now + ttl * 30, { route });
      const claim = generated ? byGuard : byId;
      const of = { route, delivery_id: deliveryId, accepted_at: now, deliveries, agent, ...session };
      const dispatch = makeDispatch(id, of);
      const works = {
        run: { kind: 'run' },
        deliveries: {
          kind: 'deliveries',
          answer: ttl > 2 ? 'text' : null,
          open: approve
            ? deliveries.map((one, index) => openDelivery(one, index, now))
            : openDeliveries(dispatch, now + ttl * 5),
        },
        held: { kind: 'held', holder },
      } as const;
      const max_concurrent = cap === null ? null : cap + 1;
      const work_ = works[work as keyof typeof works];
      return makeAccept(id, { dispatch, claim, work: work_, max_concurrent, claiming: later ? 'later' : 'now', now });
    };
  });

const join = fc
  .record({
    deliveryId,
    guard,
    key: fc.constantFrom('k', 'l\0', 'm'),
    window: small,
    agent,
    session,
    whole: fc.boolean(),
  })
  .map(
    ({ deliveryId, guard, key, window, agent, session, whole }): Recipe =>
      (id, now) =>
        makeJoin(id, key, now, {
          dispatch: makeDispatch(id, {
            ...{ accepted_at: now, agent, ...session },
            ...(whole ? { burst: { line: `line of ${id}`, at: [2], max_events: 1 + window } } : {}),
          }),
          claim: makeClaim(`${deliveryId}-${now < 1100}`, now + 100, guardAt(guard, now + 60)),
          limits: { window_ms: window * 20, max_wait_ms: 70 },
        }),
  );

const take = fc
  .record({ holder, none: fc.boolean(), perTarget: fc.integer({ min: 1, max: 3 }), agent, cap: fc.option(small) })
  .map(
    ({ holder, none, perTarget, agent, cap }): Recipe =>
      (_, now) => {
        const agents = cap === null ? {} : { agents: [{ profile: 'default', agent, max_concurrent: cap + 1 }] };
        return makeTake(now, { holder, attempts_per_target: perTarget, ...agents, ...(none ? { runs: 0 } : {}) });
      },
  );

/** The end of a program that answered, or none. */
const programOf = (wait: number, now: number): Partial<Pick<Advance, 'program'>> =>
  wait % 2 === 0 ? {} : { program: { exit_code: 0, signal: null, stderr: `\0 \ud800 at ${now}` } };

const advance = fc
  .record({
    ...{ place, holder, to: fc.constantFrom('pending', 'delivering', ...FINAL_STATES), wait: small },
    ...{ answer: fc.boolean(), reason: fc.boolean(), claim: fc.option(deliveryId), steps: fc.boolean() },
    ...{ isHeld: fc.boolean(), guard },
  })
  .map(({ place, holder, to, wait, answer, reason, claim, steps, isHeld, guard }): Recipe => {
    return (id, now) => ({
      ...{ kind: 'advance', ref: place, holder, to, at: now },
      ...(answer ? { answer: `answer \0 at ${now}`, ...programOf(wait, now) } : {}),
      ...(wait % 2 === 0 ? {} : { usage: usageAt(wait), limits: BUDGETS }),
      ...(reason ? { reason: `reason ${now}` } : {}),
      ...(claim === null ? {} : { claim: makeClaim(claim, now + 50, guardAt(guard, now + 40)) }),
      ...(to === 'pending' && wait > 0 ? { due_at: now + wait * 10 } : {}),
      ...(to === 'delivering' && !isHeld ? { open: [{ index: 1, target: 'email', due_at: now + wait * 5 }] } : {}),
      ...(to === 'delivering' && isHeld ? { held: true as const } : {}),
      ...(steps ? { steps: [makeStep({ kind: 'delivery', index: 0, outcome: 'permanent', reason: 'gone' })] } : {}),
      ...(to === 'dead' && isHeld ? { message: makeDispatch(id, messageAt(now)) } : {}),
    });
  });

/** Large enough for most runs. */
const BUDGETS: readonly RunLimit[] = [
  {
    kind: 'budget',
    key: '["route","default","alerts","hour"]',
    runs: null,
    tokens: 1000,
    cost: null,
    since: 0,
    until: 3_600_000,
  },
];

const begin = fc
  .record({
    place: fc.integer({ min: 0, max: 9 }),
    holder,
    job: fc.option(job),
    paused: fc.boolean(),
    metered: fc.boolean(),
  })
  .map(
    ({ place, holder, job, paused, metered }): Recipe =>
      (_, at) => ({
        ...{ kind: 'begin_run', ref: place, holder, limits: metered ? BUDGETS : [], at },
        job: job === null ? null : { id: job, paused },
      }),
  );

const messageAt = (now: number) =>
  ({ mode: 'message', route: null, accepted_at: now, deliveries: deliveriesTo('log') }) as const;

const usageAt = (wait: number): RunUsage => ({
  ...{ agent: wait > 2 ? 'reviewer' : null, input_tokens: wait * 100, output_tokens: wait > 3 ? null : 7 },
  cost: wait > 3 ? 0.25 : null,
});

const attempt = fc
  .record({
    ...{ place, holder, index: fc.integer({ min: 0, max: 1 }), again: fc.option(small), ok: fc.boolean() },
    ...{ message: fc.option(deliveryId), guard },
  })
  .map(({ place, holder, index, again, ok, message, guard }): Recipe => {
    return (_, now) => {
      const step = makeStep({
        kind: 'delivery',
        index,
        at: now,
        outcome: ok ? 'ok' : 'retry',
        sent: ok ? 1 : now % 3,
        reason: ok ? null : 'no',
      });
      const key = message === null ? {} : { key: keyOf(message, guard) };
      const made = { ...makeAttempt(place, index, now, null), ...key, holder };
      if (again === null) return { ...made, step, due_at: null };
      return { ...made, step: again === 0 ? null : step, due_at: now + again * 10 };
    };
  });

const replay = fc.record({ place, message: fc.option(deliveryId), again: fc.boolean(), guard }).map(
  ({ place, message, again, guard }): Recipe =>
    (_, now) => ({ kind: 'resend', ref: place, key: message === null ? null : keyOf(message, guard), again, now }),
);

/** A message, whose text differs between attempts. */
const approvals = fc.oneof(
  fc.record({ place, back: fc.integer({ min: 1, max: 12 }) }).map(
    ({ place, back }): Recipe =>
      (_, now) => ({
        ...{ kind: 'change_delivery', change: 'undo_approval', ref: place, index: 1, since: now - back * 10, now },
        ...{ values: { by: 'bob', from: now - back * 10 - 5, until: now + back * 20 - 60 }, dispatch: null },
      }),
  ),
  fc
    .record({
      ...{ place, back: fc.integer({ min: 1, max: 12 }), approve: fc.boolean(), reason: fc.boolean() },
      delay: fc.constantFrom({}, { delay_ms: 30 }),
    })
    .map(
      ({ place, back, approve, reason, delay }): Recipe =>
        (_, now) => ({
          ...{ kind: 'change_delivery', change: 'answer_approval', ref: place, index: 1, since: now - back * 10, now },
          ...{ values: { approve, by: 'ann', reason: reason ? 'spam \0' : null, ...delay }, dispatch: null },
        }),
    ),
  fc.record({ place, back: fc.integer({ min: 1, max: 12 }) }).map(
    ({ place, back }): Recipe =>
      (id, now) => ({
        ...{ kind: 'change_delivery', change: 'tell_approval', ref: place, index: 1, since: now - back * 10, now },
        ...{ values: {}, dispatch: makeDispatch(id, messageAt(now)) },
      }),
  ),
);

const keyOf = (delivery_id: string, guard: string | undefined): ClaimKey => ({
  ...{ profile: 'default', route: 'alerts', delivery_id },
  ...(guard === undefined ? {} : { guard }),
});

const jobs = fc.oneof(
  fc.record({ job, paused: fc.boolean(), wait: fc.option(small) }).map(
    ({ job, paused, wait }): Recipe =>
      (_, now) => ({ kind: 'pause_job', job, paused, until: wait === null ? null : now + wait * 20, now }),
  ),
  fc.record({ job, back: small, missed: fc.boolean() }).map(
    ({ job, back, missed }): Recipe =>
      (id, now) => {
        const dispatch = missed ? null : makeDispatch(id, { mode: 'job', route: null, job, accepted_at: now });
        return makeTick(job, now - back * 10, { now, dispatch });
      },
  ),
  fc.record({ job, deliveryId, route: fc.option(route) }).map(
    ({ job, deliveryId, route }): Recipe =>
      (id, now) => {
        const dispatch = makeDispatch(id, { mode: 'job', job, route, accepted_at: now });
        return makeFire(job, id, { dispatch, now, claim: makeClaim(deliveryId, now + 90) });
      },
  ),
  fc
    .record({ job, name: fc.constantFrom('a', 'b'), expect: fc.constantFrom('new', 'old'), numbered: fc.boolean() })
    .map(
      ({ job, name, expect, numbered }): Recipe =>
        () => ({
          ...{ kind: 'put_job', job: makeJob(job, { name }), expect: expect as 'new' | 'old' },
          ...(numbered ? { numbered_beside: ['a-2'] } : {}),
        }),
    ),
  job.map(
    (id): Recipe =>
      () => ({ kind: 'remove_job', id }),
  ),
  job.map(
    (job): Recipe =>
      (_, now) => ({ kind: 'watch_job', job, signature: 's', now: now - 30 }),
  ),
);

const NO_FIGURES = { taken: 0, ignored: 0, duplicate: 0, refused: 2, failed: 1, half_us: 5, most_us: 0, waiting: 3 };

const pauses = fc.record({ route, paused: fc.boolean(), wait: fc.option(small) }).map(
  ({ route, paused, wait }): Recipe =>
    (_, now) => {
      const until = wait === null ? null : now + 1 + wait * 20;
      return { kind: 'pause_route', profile: 'default', route, paused, until, now };
    },
);

const others = fc.oneof(
  fc.record({ back: small, taken: small, most: small }).map(
    ({ back, taken, most }): Recipe =>
      (_, now) => {
        const minute = Math.max(0, now - back * 50);
        const figures = { ...NO_FIGURES, taken, most_us: most };
        return { kind: 'add_figures', minute, figures };
      },
  ),
  pauses,
  fc.constant<Recipe>((_, now) => ({ kind: 'flush_groups', now })),
  // At times of a clock that moved back.
  fc.record({ holder, runs: fc.array(place), attempts: fc.array(place), back: fc.constantFrom(0, 100) }).map(
    ({ holder, runs, attempts, back }): Recipe =>
      (_, now) => {
        const under_way = { runs, attempts: attempts.map((ref) => ({ ref, index: 1 })) };
        return { kind: 'recover', holder, now: now - back, under_way };
      },
  ),
  fc.constant<Recipe>((_, now) => ({ kind: 'expire_claims', now, after: '', limit: 100 })),
  small.map(
    (age): Recipe =>
      (_, now) => ({ kind: 'cleanup', before: now - age * 15, after: 0, limit: 100 }),
  ),
  fc.constant<Recipe>((_, now) => ({ kind: 'forget_ticks', before: now - 50, limit: 100 })),
  fc.constant<Recipe>(() => 'restart'),
  fc.constant<Recipe>(() => 'crash'),
);

export const recipe: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 6, arbitrary: accept },
  { weight: 4, arbitrary: join },
  { weight: 6, arbitrary: take },
  { weight: 6, arbitrary: advance },
  { weight: 3, arbitrary: begin },
  { weight: 5, arbitrary: attempt },
  { weight: 3, arbitrary: replay },
  { weight: 5, arbitrary: approvals },
  { weight: 3, arbitrary: jobs },
  { weight: 3, arbitrary: others },
);

/** Jobs that are fired by a paused route, another route, their schedule and people. */
const fired = fc
  .record({
    job: fc.constantFrom('j', 'k', 'l', 'm', 'n', 'o'),
    by: fc.constantFrom('alerts', 'other', 'time', 'hand'),
    kind: small,
  })
  .map(({ job, by, kind }): Recipe => {
    return (id, now) => {
      const route = by === 'alerts' || by === 'other' ? by : null;
      const of = { job, route, accepted_at: now, deliveries: deliveriesTo('log') };
      const dispatch = makeDispatch(id, { ...of, mode: kind === 0 ? 'message' : 'job' });
      if (by === 'time') return makeTick(job, now, { dispatch });
      return makeFire(job, id, { dispatch, now, claim: makeClaim(id, now + 50) });
    };
  });

export const firing: fc.Arbitrary<Recipe> = fc.oneof(
  pauses,
  // These pauses have no end.
  {
    weight: 2,
    arbitrary: pauses.map(
      (make): Recipe =>
        (id, now) => ({ ...(make(id, now) as PauseRoute), until: null }),
    ),
  },
  { weight: 6, arbitrary: fired },
  {
    weight: 6,
    arbitrary: fc
      .record({ place: fc.integer({ min: 0, max: 9 }), id: fc.constantFrom('j', 'k', 'l', 'm', 'n', 'o') })
      .map(
        ({ place, id }): Recipe =>
          (_, at) => ({ kind: 'begin_run', ref: place, holder: HOLDER, limits: [], job: { id, paused: false }, at }),
      ),
  },
  { weight: 3, arbitrary: fc.constant<Recipe>((_, now) => makeTake(now)) },
  {
    weight: 12,
    arbitrary: fc
      .record({ place: fc.integer({ min: 0, max: 9 }), to: fc.constantFrom('pending', 'dead', 'done', 'done') })
      .map(({ place, to }): Recipe => {
        return (_, now) => ({ kind: 'advance', ref: place, holder: HOLDER, to, at: now, reason: 'why', answer: 'x' });
      }),
  },
  fc.constant<Recipe>((_, now) => ({ kind: 'recover', holder: HOLDER, now, under_way: { runs: [], attempts: [] } })),
  fc.constantFrom<Recipe>(
    () => 'restart',
    () => 'crash',
  ),
);
