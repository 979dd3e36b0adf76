/** Three gateways of one PostgreSQL fail at once: operators receive one alert. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alertTitle } from '../../../base/names.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { until } from '../../helpers/gateway.ts';
import { skipWithoutPostgres } from '../../helpers/postgres/binaries.ts';
import { suiteDatabase } from '../../helpers/postgres/database.ts';
import { openTestStore } from '../../helpers/postgres/store.ts';
import { sentAlerts, watch } from './lasting-alerts.ts';

describe('alerts of several gateways', { skip: skipWithoutPostgres() }, () => {
  const url = suiteDatabase();

  it('send one message at the beginning, and one when any gateway sees the end', async (t) => {
    const clock = new FakeClock();
    const stores = await Promise.all([1, 2, 3].map(() => openTestStore(url(), 'alerts')));
    atEnd(t, () => Promise.all(stores.map((store) => store.close())));
    const gateways = await Promise.all(stores.map((store) => watch(store, clock)));
    const [store] = stores;
    assert.ok(store !== undefined);
    for (let times = 0; times < 23; times++) for (const gateway of gateways) gateway.fail();
    await Promise.all(gateways.map((gateway) => gateway.restart()));
    const begun = `hookwright: ${alertTitle('run_failed')}: route review\nthe token is not valid any more`;
    assert.deepEqual(await sentAlerts(store), [begun]);
    // The gateway that sees the end did not raise the alert; it reads it from the store.
    await until(async () => {
      gateways[2]?.succeed();
      await clock.run(5000);
      return (await sentAlerts(store)).length >= 2;
    });
    await Promise.all(gateways.map((gateway) => gateway.restart()));
    const [, over, ...more] = await sentAlerts(store);
    assert.match(over ?? '', /route review\n69 \D*\d+ min$/);
    assert.deepEqual(more, []);
    await Promise.all(gateways.map((gateway) => gateway.close()));
  });
});
