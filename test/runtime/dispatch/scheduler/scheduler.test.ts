import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailable } from '../../../../runtime/store/contract.ts';
import { storedIn } from '../../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../../helpers/dispatches.ts';
import { settle } from '../../../helpers/fake-clock.ts';
import { makeJob } from '../../../helpers/jobs.ts';
import { profilePlan } from '../../../helpers/route-table.ts';
import { begin, jobPlan, jobTable, schedulerBench } from '../../../helpers/scheduler.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

const hourly = jobPlan('hourly', { schedule: '0 * * * *' });

function claim(delivery_id: string) {
  return { profile: 'default', route: 'alerts', delivery_id, generated: false, ttl_ms: HOUR };
}

describe('scheduler: on time', () => {
  it('fires each job at its instants, in its zone, as dispatches', async () => {
    const bench = schedulerBench(
      jobTable(
        hourly,
        jobPlan('tokyo', { schedule: '30 9 * * *', timezone: 'Asia/Tokyo', skills: ['s'], toolsets: ['t'] }),
      ),
    );
    await begin(bench);
    await bench.clock.run(2 * HOUR);
    assert.deepEqual(bench.fired(), [
      '2026-01-01T00:30:00.000Z',
      '2026-01-01T01:00:00.000Z',
      '2026-01-01T02:00:00.000Z',
    ]);
    const { dispatch } = bench.store.look({ kind: 'load', ref: 1 }) ?? {};
    assert.deepEqual(
      { ...dispatch, id: '' },
      {
        ...{ id: '', mode: 'job', profile: 'default', route: null, job: 'tokyo', event: 'schedule' },
        delivery_id: 'tokyo@2026-01-01T00:30:00.000Z',
        ...{ accepted_at: Date.parse('2026-01-01T00:30:00Z'), due_at: Date.parse('2026-01-01T00:30:00Z') },
        ...{ prompt: 'Do tokyo.', agent: null, skills: ['s'], toolsets: ['t'] },
        session: 'job:tokyo@2026-01-01T00:30:00.000Z',
        session_key: null,
        deliveries: [{ target: 'local', extra: {}, unresolved: [] }],
        ...{ mirror_to_session: false, superseded: 0, replay_of: null },
      },
    );
  });

  it('fires jobs created at run time, from their creation', async () => {
    const bench = schedulerBench(jobTable());
    const job = makeJob('dyn', { schedule: '*/30 * * * *', created_at: bench.clock.now() });
    await begin(bench);
    await bench.store.write({ kind: 'put_job', job, expect: 'new' });
    await bench.clock.run(HOUR + MINUTE);
    assert.deepEqual(bench.fired().slice(0, 1), ['2026-01-01T01:00:00.000Z']);
    await bench.store.write({ kind: 'remove_job', id: 'dyn' });
    bench.scheduler.refresh();
    await bench.clock.run(3 * HOUR);
    assert.equal(bench.fired().length, 1);
  });

  it('starts no run during the previous one, and logs that', async () => {
    const bench = schedulerBench(jobTable(hourly));
    await begin(bench);
    bench.hold = true;
    await bench.clock.run(2 * HOUR);
    await bench.release();
    bench.hold = false;
    await bench.clock.run(HOUR);
    assert.deepEqual(bench.fired(), ['2026-01-01T01:00:00.000Z', '2026-01-01T03:00:00.000Z']);
    assert.deepEqual(
      bench.ticks('hourly').map(({ outcome }) => outcome),
      ['fired', 'overlapped', 'fired'],
    );
    assert.ok(bench.log.lines.some(({ level, fields }) => level === 'warn' && fields.job === 'hourly'));
  });

  it('continues with a swapped table: new jobs, changed schedules, removed jobs', async () => {
    const bench = schedulerBench(jobTable(hourly, jobPlan('gone', { schedule: '0 * * * *' })));
    await begin(bench);
    await bench.clock.run(1.5 * HOUR);
    bench.table = jobTable({ ...hourly, schedule: '45 * * * *' }, jobPlan('new', { schedule: '50 * * * *' }));
    bench.scheduler.refresh();
    await bench.clock.run(HOUR);
    assert.deepEqual(bench.fired(), [
      '2026-01-01T01:00:00.000Z',
      '2026-01-01T01:00:00.000Z',
      '2026-01-01T01:45:00.000Z',
      '2026-01-01T01:50:00.000Z',
    ]);
  });

  it('does not fire immediately when a schedule is moved to an earlier time of the day', async () => {
    const bench = schedulerBench(jobTable(jobPlan('daily', { schedule: '0 6 * * *' })));
    await begin(bench);
    await bench.clock.run(13 * HOUR);
    bench.table = jobTable(jobPlan('daily', { schedule: '0 12 * * *' }));
    bench.scheduler.refresh();
    await bench.clock.run(HOUR);
    assert.deepEqual(bench.fired(), ['2026-01-01T06:00:00.000Z']);
  });

  it('keeps firing when the store cannot accept an instant at first', async () => {
    const bench = schedulerBench(jobTable(hourly), { pollMs: 1000 });
    const { store } = bench;
    const write = store.write.bind(store);
    let failures = 3;
    store.write = (mutation) =>
      mutation.kind === 'tick_job' && failures-- > 0
        ? Promise.reject(new StoreUnavailable('disk full'))
        : write(mutation);
    await begin(bench);
    await bench.clock.run(HOUR + 10_000);
    assert.deepEqual(bench.fired(), ['2026-01-01T01:00:00.000Z']);
    assert.equal(bench.log.lines.filter(({ level }) => level === 'error').length, 1, 'said once');
  });

  it('ignores a schedule it cannot read, and fires the others', async () => {
    const bench = schedulerBench(jobTable(hourly, jobPlan('odd', { timezone: 'Mars/Olympus' })));
    await begin(bench);
    await bench.clock.run(HOUR);
    assert.equal(bench.fired().length, 1);
  });

  it('fires nothing after it was stopped', async () => {
    const bench = schedulerBench(jobTable(hourly));
    await begin(bench);
    await bench.scheduler.stop();
    await bench.clock.run(3 * HOUR);
    assert.deepEqual(bench.fired(), []);
    assert.equal(bench.clock.pending, 0);
  });
});

describe('scheduler: pausing', () => {
  it('does not fire a paused job, and continues from its resumption', async () => {
    const bench = schedulerBench(jobTable({ ...hourly, misfire: 'once' }));
    await begin(bench);
    await bench.store.write({ kind: 'pause_job', job: 'hourly', paused: true, now: bench.clock.now() });
    await bench.clock.run(3.5 * HOUR);
    await bench.store.write({ kind: 'pause_job', job: 'hourly', paused: false, now: bench.clock.now() });
    bench.scheduler.refresh();
    await bench.clock.run(HOUR);
    assert.deepEqual(bench.fired(), ['2026-01-01T04:00:00.000Z']);
    assert.equal(bench.ticks('hourly')[0]?.missed, 0);
  });

  it('resumes automatically when the pause of a job expires, even after a restart, and makes up for nothing', async () => {
    const bench = schedulerBench(jobTable({ ...hourly, misfire: 'once' }));
    await begin(bench);
    const now = bench.clock.now();
    await bench.store.write({ kind: 'pause_job', job: 'hourly', paused: true, until: now + 2.5 * HOUR, now });
    await bench.clock.run(1.5 * HOUR);
    await bench.scheduler.stop();
    bench.scheduler.start();
    await bench.clock.run(2 * HOUR);
    assert.deepEqual(bench.fired(), ['2026-01-01T03:00:00.000Z']);
    assert.equal(bench.ticks('hourly')[0]?.missed, 0);
  });

  it('follows the config: pauses with one table, and counts from now on with another', async () => {
    const table = (paused: boolean) => jobTable({ ...hourly, paused, misfire: 'once' });
    const bench = schedulerBench(table(false));
    await begin(bench);
    await bench.clock.run(1.5 * HOUR);
    bench.table = table(true);
    bench.scheduler.refresh();
    await bench.clock.run(3 * HOUR);
    bench.table = table(false);
    bench.scheduler.refresh();
    await bench.clock.run(HOUR);
    assert.deepEqual(bench.fired(), ['2026-01-01T01:00:00.000Z', '2026-01-01T05:00:00.000Z']);
    assert.deepEqual(
      bench.ticks('hourly').map(({ missed }) => missed),
      [0, 0],
    );
  });

  it('leaves a job alone that the config pauses, until the user resumes it', async () => {
    const bench = schedulerBench(jobTable({ ...hourly, paused: true }));
    await begin(bench);
    await bench.clock.run(2 * HOUR);
    await bench.store.write({ kind: 'pause_job', job: 'hourly', paused: false, now: bench.clock.now() });
    bench.scheduler.refresh();
    await bench.clock.run(HOUR);
    assert.deepEqual(bench.fired(), ['2026-01-01T03:00:00.000Z']);
  });
});

/** The gateway is down for a while: the same store and clock under a new scheduler. */
async function restartAfter(ms: number, misfire: 'skip' | 'once') {
  const table = jobTable({ ...hourly, misfire });
  const before = schedulerBench(table);
  await begin(before);
  await before.clock.run(1.5 * HOUR);
  await before.scheduler.stop();
  before.clock.advance(ms);
  const { clock, store } = before;
  const after = schedulerBench(table, { clock, store });
  await begin(after);
  return after;
}

describe('scheduler: missed instants', () => {
  it('are skipped by default, and recorded', async () => {
    const bench = await restartAfter(4 * HOUR, 'skip');
    assert.deepEqual(bench.fired(), ['2026-01-01T01:00:00.000Z']);
    assert.deepEqual(bench.ticks('hourly').slice(0, 1), [
      { due_at: Date.parse('2026-01-01T05:00:00Z'), outcome: 'missed', ref: null, missed: 4 },
    ]);
    await bench.clock.run(HOUR);
    assert.deepEqual(bench.fired().at(-1), '2026-01-01T06:00:00.000Z');
  });

  it('fire once, for the latest, when the job says so', async () => {
    const bench = await restartAfter(4 * HOUR, 'once');
    assert.deepEqual(bench.fired(), ['2026-01-01T01:00:00.000Z', '2026-01-01T05:00:00.000Z']);
    assert.equal(bench.ticks('hourly').slice(0, 1)[0]?.missed, 3);
    await bench.clock.run(HOUR);
    assert.equal(bench.fired().length, 3);
  });

  it('are none when the gateway was down between two instants', async () => {
    const bench = await restartAfter(10 * MINUTE, 'once');
    await bench.clock.run(HOUR);
    assert.deepEqual(bench.fired(), ['2026-01-01T01:00:00.000Z', '2026-01-01T02:00:00.000Z']);
    assert.equal(bench.ticks('hourly').length, 2);
  });

  it('are counted for a year in well under a second', async () => {
    const bench = await restartAfter(365 * 24 * HOUR, 'skip');
    assert.equal(bench.ticks('hourly').slice(0, 1)[0]?.missed, 1001);
  });
});

describe('scheduler: a clock that is set', () => {
  it('does not fire an instant again when it steps back', async () => {
    const bench = schedulerBench(jobTable(hourly), { pollMs: MINUTE });
    await begin(bench);
    await bench.clock.run(3.5 * HOUR);
    bench.clock.jump(-2 * HOUR);
    await bench.clock.run(3 * HOUR);
    assert.deepEqual(bench.fired(), [
      '2026-01-01T01:00:00.000Z',
      '2026-01-01T02:00:00.000Z',
      '2026-01-01T03:00:00.000Z',
      '2026-01-01T04:00:00.000Z',
    ]);
  });

  it('uses the new time after the clock moved back, and logs that once', async () => {
    const bench = schedulerBench(jobTable(jobPlan('minutely', { schedule: '* * * * *' })), { pollMs: 1000 });
    await begin(bench);
    await bench.clock.run(3 * MINUTE);
    bench.clock.jump(-3 * HOUR);
    await bench.clock.run(2 * MINUTE);
    const before = ['2026-01-01T00:01:00.000Z', '2026-01-01T00:02:00.000Z', '2026-01-01T00:03:00.000Z'];
    assert.deepEqual(bench.fired(), [...before, '2025-12-31T21:04:00.000Z', '2025-12-31T21:05:00.000Z']);
    assert.equal(bench.log.lines.filter(({ level }) => level === 'warn').length, 1);
    // The old times occur again: instants that fired do not fire again, and others do.
    await bench.clock.run(3 * HOUR);
    const fired = bench.fired();
    assert.equal(new Set(fired).size, fired.length);
    assert.deepEqual(fired.slice(-3), [
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:04:00.000Z',
      '2026-01-01T00:05:00.000Z',
    ]);
  });

  it('uses the new time when the clock moved back while no gateway ran', async () => {
    const before = schedulerBench(jobTable(hourly));
    await begin(before);
    await before.clock.run(5.5 * HOUR);
    await before.scheduler.stop();
    const { clock, store } = before;
    clock.jump(-3 * 24 * HOUR);
    const after = schedulerBench(jobTable(hourly), { clock, store });
    await begin(after);
    await after.clock.run(HOUR);
    assert.equal(after.fired().at(-1), '2025-12-29T06:00:00.000Z');
  });

  it('keeps the duration of a pause when the clock moved back, also while no gateway ran', async () => {
    for (const isStopped of [false, true]) {
      const before = schedulerBench(jobTable(jobPlan('minutely', { schedule: '* * * * *' })), { pollMs: 1000 });
      await begin(before);
      const { clock, store } = before;
      const now = clock.now();
      await store.write({ kind: 'pause_job', job: 'minutely', paused: true, until: now + HOUR, now });
      await clock.run(2000);
      if (isStopped) await before.scheduler.stop();
      clock.jump(-3 * 24 * HOUR);
      const bench = isStopped ? schedulerBench(before.table, { clock, store, pollMs: 1000 }) : before;
      if (isStopped) await begin(bench);
      await clock.run(HOUR - MINUTE);
      assert.deepEqual(bench.fired(), []);
      await clock.run(2 * MINUTE);
      assert.ok(bench.fired().length > 0);
      await bench.scheduler.stop();
    }
  });

  it('ignores the small steps of clock synchronisation', async () => {
    const bench = schedulerBench(jobTable(jobPlan('minutely', { schedule: '* * * * *' })), { pollMs: 1000 });
    await begin(bench);
    for (let step = 0; step < 5; step++) {
      await bench.clock.run(MINUTE);
      bench.clock.jump(-500);
    }
    assert.equal(bench.fired().length, 4);
    assert.deepEqual(
      bench.log.lines.map(({ level }) => level).filter((level) => level !== 'info'),
      [],
    );
  });

  it('fires once when it jumps forward over several instants', async () => {
    const bench = schedulerBench(jobTable(hourly), { pollMs: MINUTE });
    await begin(bench);
    await bench.clock.run(0.5 * HOUR);
    bench.clock.jump(5 * HOUR);
    await bench.clock.run(HOUR);
    assert.deepEqual(bench.fired(), ['2026-01-01T05:00:00.000Z', '2026-01-01T06:00:00.000Z']);
    assert.equal(bench.ticks('hourly')[1]?.missed, 4);
  });

  it('does not wait years after the clock was in the far future by mistake', async () => {
    const bench = schedulerBench(jobTable(hourly), { pollMs: MINUTE });
    await begin(bench);
    await bench.clock.run(1.5 * HOUR);
    bench.clock.jump(4 * 365 * 24 * HOUR);
    await bench.clock.run(MINUTE);
    bench.clock.jump(-4 * 365 * 24 * HOUR);
    await bench.clock.run(HOUR);
    assert.equal(bench.fired().length, 3);
    assert.equal(bench.fired().at(-1), '2026-01-01T02:00:00.000Z');
  });
});

describe('scheduler: events', () => {
  const table = () =>
    jobTable(jobPlan('report', { prompt: 'Write the report.\n', skills: ['writing'], toolsets: ['web'] }));
  const event = (id: string) =>
    makeDispatch(id, {
      mode: 'job',
      job: 'report',
      prompt: 'Build 7 failed.',
      skills: [],
      toolsets: [],
      deliveries: [],
    });

  it('fires the job with the event as context for that run only', async () => {
    const bench = schedulerBench(table());
    await begin(bench);
    assert.deepEqual(await bench.scheduler.fire(event('a'), claim('1')), { kind: 'accepted' });
    const { dispatch } = storedIn(bench.store, 'a') ?? {};
    assert.equal(dispatch?.prompt, 'Write the report.\n\nBuild 7 failed.');
    assert.deepEqual([dispatch?.skills, dispatch?.toolsets], [['writing'], ['web']]);
    assert.deepEqual(dispatch?.deliveries, [{ target: 'local', extra: {}, unresolved: [] }]);
    assert.deepEqual([dispatch?.route, dispatch?.due_at], ['alerts', null]);
    await bench.clock.run(8 * HOUR);
    assert.equal(bench.store.look({ kind: 'load', ref: 2 })?.dispatch.prompt, 'Write the report.\n');
  });

  it("holds the run while the event's route is paused, without stopping the schedule", async () => {
    const bench = schedulerBench(table());
    await begin(bench);
    const pause = { kind: 'pause_route', profile: 'default', route: 'alerts', until: null } as const;
    await bench.store.write({ ...pause, paused: true, now: bench.clock.now() });
    assert.deepEqual(await bench.scheduler.fire(event('a'), claim('1')), { kind: 'accepted' });
    assert.deepEqual(await bench.scheduler.fire(event('b'), claim('2')), { kind: 'accepted' });
    await bench.clock.run(33 * HOUR);
    assert.deepEqual(bench.fired(), ['2026-01-01T08:00:00.000Z', '2026-01-02T08:00:00.000Z']);
    assert.equal(storedIn(bench.store, 'a')?.state, 'pending');
    await bench.store.write({ ...pause, paused: false, now: bench.clock.now() });
    await bench.release();
    assert.deepEqual([storedIn(bench.store, 'a')?.state, storedIn(bench.store, 'b')?.state], ['skipped', 'skipped']);
  });

  it('an event without text adds nothing', async () => {
    const bench = schedulerBench(table());
    await begin(bench);
    await bench.scheduler.fire({ ...event('a'), prompt: ' \n' }, claim('1'));
    assert.equal(storedIn(bench.store, 'a')?.dispatch.prompt, 'Write the report.');
  });

  it('a burst fires once, and every event of it is answered', async () => {
    const bench = schedulerBench(table());
    bench.hold = true;
    await begin(bench);
    const results = await Promise.all(['a', 'b', 'c'].map((id) => bench.scheduler.fire(event(id), claim(id))));
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['accepted', 'already_running', 'already_running'],
    );
    assert.deepEqual(await bench.scheduler.fire(event('d'), claim('b')), { kind: 'duplicate' });
    await bench.release();
    assert.deepEqual(await bench.scheduler.fire(event('e'), claim('e')), { kind: 'accepted' });
  });

  it('a paused job is not fired, nor an unknown one, nor one of another profile', async () => {
    const bench = schedulerBench({
      ...table(),
      profiles: { default: profilePlan('default'), other: profilePlan('other') },
    });
    await begin(bench);
    await bench.store.write({ kind: 'pause_job', job: 'report', paused: true, now: 0 });
    assert.deepEqual(await bench.scheduler.fire(event('a'), claim('a')), { kind: 'paused' });
    assert.deepEqual(await bench.scheduler.fire({ ...event('b'), job: 'repot' }, claim('b')), { kind: 'unknown_job' });
    assert.deepEqual(await bench.scheduler.fire({ ...event('c'), profile: 'other' }, claim('c')), {
      kind: 'unknown_job',
    });
    assert.equal(bench.store.look({ kind: 'list', filter: { limit: 9 } }).length, 0);
  });

  it('an event takes no instant away from the schedule', async () => {
    const bench = schedulerBench(jobTable(jobPlan('report', { schedule: '0 * * * *' })));
    await begin(bench);
    await bench.clock.run(HOUR - 1);
    bench.clock.jump(1);
    await bench.scheduler.fire(event('a'), claim('a'));
    await settle();
    await bench.clock.run(MINUTE);
    assert.deepEqual(bench.fired(), ['2026-01-01T01:00:00.000Z']);
    assert.equal(bench.store.look({ kind: 'list', filter: { limit: 9 } }).length, 2);
  });
});

describe('scheduler: deliveries', () => {
  const binding = {
    ...{ variant: null, api_base: null, credentials: {}, options: {}, at_most_once: false, max_attempts: 8 },
    allow_http: false,
  };

  async function targetsOf(homeChannels: Readonly<Record<string, string | null>>): Promise<readonly string[]> {
    const table = jobTable(jobPlan('j', { schedule: '0 * * * *', deliver: [{ target: 'origin', extra: {} }] }));
    const targets = Object.fromEntries(
      Object.entries(homeChannels).map(([name, home_channel]) => [name, { ...binding, home_channel }]),
    );
    const email = { name: 'email', title: 'E-mail', driver: 'email', home_last: true } as const;
    const plans = { email: { ...email, settings: [], address: [], variants: [] } };
    const profiles = { default: { ...profilePlan('default'), targets } };
    const bench = schedulerBench({ ...table, targets: plans, profiles });
    await begin(bench);
    await bench.clock.run(HOUR);
    return bench.store.look({ kind: 'load', ref: 1 })?.dispatch.deliveries.map(({ target }) => target) ?? [];
  }

  it('origin is the home channel of a chat, else of a target that is used last, else the answer is only saved', async () => {
    assert.deepEqual(await targetsOf({ email: 'a@example.org', sms: null, messenger_a: '1', workspace_chat: 'C' }), [
      'messenger_a',
    ]);
    assert.deepEqual(await targetsOf({ email: 'a@example.org', sms: null }), ['email']);
    assert.deepEqual(await targetsOf({ sms: '' }), ['local']);
    assert.deepEqual(await targetsOf({}), ['local']);
  });

  it('an address that holds a placeholder stays unresolved', async () => {
    const extra = {
      chat_id: [{ kind: 'path' as const, path: ['chat'], text: '{chat}', builtin: null }],
      thread_id: [{ kind: 'text' as const, text: '7' }],
    };
    const bench = schedulerBench(
      jobTable(jobPlan('j', { schedule: '0 * * * *', deliver: [{ target: 'messenger_a', extra }] })),
    );
    await begin(bench);
    await bench.clock.run(HOUR);
    assert.deepEqual(bench.store.look({ kind: 'load', ref: 1 })?.dispatch.deliveries, [
      { target: 'messenger_a', extra: { chat_id: '{chat}', thread_id: '7' }, unresolved: ['chat_id'] },
    ]);
  });
});

describe('scheduler: two on one store', () => {
  it('fire each instant once between them', async () => {
    const table = jobTable(jobPlan('minutely', { schedule: '* * * * *' }));
    const one = schedulerBench(table, { pollMs: 1000 });
    const { clock, store } = one;
    const other = schedulerBench(table, { clock, store, pollMs: 700 });
    await begin(one);
    await begin(other);
    await clock.run(30 * MINUTE);
    const fired = one.fired();
    assert.deepEqual([fired.length, new Set(fired).size], [30, 30]);
    assert.ok(one.ticks('minutely').every(({ outcome, missed }) => outcome === 'fired' && missed === 0));
  });
});
