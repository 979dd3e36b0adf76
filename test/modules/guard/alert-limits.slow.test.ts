/** What a stranger can begin and end at will does not send messages without end. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMemoryStore } from '../../helpers/memory-store.ts';
import { HOUR, MINUTE, sentAlerts, watch } from './lasting-alerts.ts';

/** Most messages of a kind in an hour, and the one about all further ones. */
const MOST = 20;

async function watched() {
  const store = createMemoryStore();
  const gateway = await watch(store);
  const { clock } = gateway;
  return {
    ...gateway,
    store,
    /** Does it again and again, each time a minute later. */
    async repeat(times: number, act: (n: number) => void) {
      for (let n = 0; n < times; n++) {
        act(n);
        await clock.run(MINUTE);
      }
    },
    async wait(ms: number) {
      clock.jump(ms - 10_000);
      await clock.run(10_000);
    },
    titles: async () => (await sentAlerts(store)).map((text) => text.split('\n', 1)[0] ?? ''),
  };
}

describe('requests without a valid signature', () => {
  it('between genuine events are one alert, which ends an hour after the last of them', async () => {
    const { answer, repeat, wait, titles } = await watched();
    await repeat(50, () => {
      answer(false, 10);
      answer(true, 1);
    });
    assert.equal((await titles()).length, 1);
    await wait(HOUR - 2 * MINUTE);
    assert.equal((await titles()).length, 1);
    await wait(2 * MINUTE);
    assert.match((await titles())[1] ?? '', /resolved.*route review/);
    answer(false, 9);
    answer(true, 1);
    answer(false, 9);
    await wait(MINUTE);
    assert.equal((await titles()).length, 2);
  });

  it('go on through a restart without a second alert', async () => {
    const { answer, repeat, restart, titles } = await watched();
    for (let n = 0; n < 5; n++) {
      await repeat(1, () => answer(false, 12));
      await restart();
      await repeat(1, () => answer(true, 1));
    }
    assert.equal((await titles()).length, 1);
  });
});

describe('keys that are paused', () => {
  it('send twenty messages an hour, then one with the number of the others', async () => {
    const { pause, repeat, wait, titles, store } = await watched();
    for (let n = 0; n < 300; n++) pause(`issue ${n}`);
    await repeat(10, (n) => pause(`later ${n}`));
    assert.equal((await titles()).length, MOST);
    await wait(HOUR);
    const texts = await sentAlerts(store);
    const [about = '', ...others] = texts.filter((text) => text.includes('290 times'));
    assert.match(about, /^hookwright: .*\n```\n290 times in [67]\d min; /);
    assert.deepEqual(others, []);
  });

  it('are one alert for a key that is paused again and again, which ends an hour after the last time', async () => {
    const { pause, wait, titles } = await watched();
    for (let n = 0; n < 5; n++) {
      pause('issue 1');
      await wait(HOUR - MINUTE);
    }
    assert.equal((await titles()).length, 1);
    await wait(2 * MINUTE);
    assert.match((await titles())[1] ?? '', /resolved.*issue 1/);
  });
});

describe('at most twenty messages an hour and one for all others', () => {
  const hours = async (flip: (gateway: Awaited<ReturnType<typeof watched>>, n: number) => void) => {
    const gateway = await watched();
    for (let hour = 0; hour < 3; hour++) {
      await gateway.repeat(60, (n) => flip(gateway, 60 * hour + n));
      const sent = (await gateway.titles()).length;
      assert.ok(sent <= (hour + 1) * (MOST + 1), `${sent} messages in ${hour + 1} h`);
    }
    return gateway;
  };

  it('are sent by runs that fail and succeed in turn, and the last message is about the end', async () => {
    const { titles, wait, succeed } = await hours(({ fail, succeed }, n) => (n % 2 === 0 ? fail() : succeed()));
    succeed();
    await wait(HOUR);
    await wait(MINUTE);
    assert.match((await titles()).at(-1) ?? '', /resolved|further/);
  });

  it('are sent by failures of many routes', async () => {
    await hours(({ fail, succeed }, n) => {
      fail(`route${n}`);
      if (n > 5) succeed(`route${n - 5}`);
    });
  });

  it('are sent by budgets that are used up', async () => {
    await hours(({ spend }, n) => spend(`route${n}`));
  });

  it('are sent by deliveries to addresses that a sender chooses', async () => {
    await hours(({ deliver }, n) => deliver(`c${n}`, n % 3 === 0 ? null : 'no such chat'));
    await hours(({ deliver }, n) => deliver(`c${n >> 1}`, n % 2 === 0 ? 'no such chat' : null));
  });

  it('leave the messages of other kinds alone', async () => {
    const { pause, fail, repeat, titles } = await watched();
    for (let n = 0; n < 100; n++) pause(`issue ${n}`);
    await repeat(1, () => fail());
    assert.ok((await titles()).some((title) => title.endsWith('route review')));
  });
});
