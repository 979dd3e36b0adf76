import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Overload } from '../../../runtime/intake/overload.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { sendPaced } from '../../helpers/paced-load.ts';
import { serve, signed } from '../../helpers/serve.ts';

/** A process whose turns of the event loop take `delay` ms; null: a turn that does not end. */
function busyProcess() {
  const clock = new FakeClock();
  const log = recordLog();
  const state: { delay: number | null; turns: number; accepted: number } = { delay: 0, turns: 100, accepted: 0 };
  const overload = new Overload({ clock, log, measureLoop: () => state, accepted: () => state.accepted });
  /** Events every 10 ms; returns how many of each were rejected. */
  const pass = async (ms: number, events = 10, areVerified = true): Promise<number> => {
    let refused = 0;
    for (let elapsed = 0; elapsed < ms; elapsed += 10) {
      for (let event = 0; event < events; event++) {
        if (overload.refuses()) refused++;
        else if (areVerified) overload.verify();
      }
      await clock.run(10);
    }
    return refused / events;
  };
  return { clock, log, state, overload, pass };
}

describe('overload', () => {
  it('rejects nothing while turns of the event loop are short, however many events arrive', async () => {
    const { state, pass } = busyProcess();
    state.delay = 90;
    assert.equal(await pass(3000), 0);
  });

  it('rejects nothing for one burst', async () => {
    const { state, pass } = busyProcess();
    for (let n = 0; n < 3; n++) {
      state.delay = 150;
      assert.equal(await pass(300), 0);
      state.delay = 20;
      assert.equal(await pass(1000), 0);
    }
  });

  it('rejects nothing of a burst of 90 events, however long the machine takes for it', async () => {
    const { state, pass } = busyProcess();
    state.turns = 3;
    for (let n = 0; n < 9; n++, state.accepted += 10) assert.equal(await pass(100, 1), 0);
    state.accepted += 10;
    await pass(100, 1);
    state.accepted += 10;
    assert.ok((await pass(100, 1)) > 0, 'more are a load');
  });

  it('rejects nothing on a slow machine with few waiting requests', async () => {
    const { state, pass } = busyProcess();
    state.delay = 140;
    assert.equal(await pass(5000, 1), 0);
  });

  it('rejects nothing while strangers cause the load, and stops once only they are left', async () => {
    const { state, pass } = busyProcess();
    state.delay = 140;
    assert.equal(await pass(5000, 10, false), 0);
    await pass(2000);
    await pass(6000, 10, false);
    assert.equal(await pass(300, 1), 0);
  });

  it('accepts an ever smaller share while a turn does not end, and logs it once', async () => {
    const { state, log, pass } = busyProcess();
    await pass(100);
    state.delay = null;
    assert.equal(await pass(400), 0);
    assert.ok((await pass(300)) >= 12);
    const refused = await pass(1000);
    assert.ok(refused >= 90 && refused < 100, `${refused}`);
    assert.deepEqual(
      log.lines.map(({ level }) => level),
      ['warn'],
    );
  });

  it('rejects some events while every turn accepts a connection, however short it is', async () => {
    const { state, pass } = busyProcess();
    state.turns = 10;
    for (let n = 0; n < 4; n++, state.accepted += 10) assert.equal(await pass(100), 0);
    await pass(200);
    assert.equal(await pass(500), 0);
    for (let n = 0; n < 10; n++, state.accepted += 10) await pass(100);
    assert.ok((await pass(100)) > 5);
  });

  it('rejects nothing while strangers open connections without a request', async () => {
    const { state, pass } = busyProcess();
    state.turns = 10;
    for (let n = 0; n < 30; n++, state.accepted += 300) assert.equal(await pass(100), 0);
  });

  it('accepts all events again, step by step, once turns are much shorter', async () => {
    const { state, log, pass } = busyProcess();
    state.delay = 140;
    await pass(2000);
    state.delay = 80;
    assert.ok((await pass(1000)) >= 90);
    state.delay = 20;
    await pass(400);
    const some = await pass(500);
    assert.ok(some > 5 && some < 45, `${some}`);
    await pass(1000);
    assert.equal(await pass(1000), 0);
    assert.notEqual(log.lines.at(-1)?.fields.refused, undefined);
  });

  it('accepts all events immediately after a pause', async () => {
    const { state, overload, clock, pass } = busyProcess();
    state.delay = 140;
    await pass(2000);
    state.delay = 0;
    await clock.run(60_000);
    assert.equal(overload.refuses(), false);
    assert.equal(await pass(500), 0);
  });
});

describe('a gateway that gets several times the events that it can parse', () => {
  it('rejects the excess, answers every request, and recovers', async (t) => {
    const served = await serve(t, { routes: { alerts: {} } }, { sheds: true });
    const { accept } = served.dispatcher;
    // 5 ms of work for each event: no machine handles more than 200 a second.
    served.dispatcher.accept = (...args) => {
      for (const until = performance.now() + 5; performance.now() < until; );
      return accept.apply(served.dispatcher, args);
    };
    const body = JSON.stringify({ n: 1 });
    const answers = await sendPaced({
      ...{ url: `${served.url}/webhooks/alerts`, headers: signed(body), body },
      ...{ perSecond: 600, seconds: 2 },
    });
    const of = (status: number): number => answers.filter((answer) => answer.status === status).length;
    assert.equal(of(202) + of(503), answers.length);
    assert.ok(of(202) > 10 && of(503) > answers.length / 3, `${of(202)} taken, ${of(503)} refused`);
    const { status } = await until(async () => {
      const answer = await served.post('/webhooks/alerts', { n: 2 });
      return answer.status === 202 && answer;
    });
    assert.equal(status, 202);
    assert.ok(served.log.lines.some(({ level, fields }) => level === 'warn' && fields.delay_ms !== undefined));
  });
});
