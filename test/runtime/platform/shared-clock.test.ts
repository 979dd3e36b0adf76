/** Tests times that gateways share: they follow the database, without jumps smaller than the error of a reading. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SharedClock } from '../../../runtime/platform/clock.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';

it("uses the machine's clock until the first reading, then the shared one", () => {
  const machine = new FakeClock(10_000_000);
  const clock = new SharedClock(machine);
  assert.deepEqual([clock.now(), clock.offset], [10_000_000, 0]);
  clock.follow(9_400_000, { asked: 0, answered: 0 });
  machine.advance(5000);
  assert.deepEqual([clock.now(), clock.offset], [9_405_000, -600_000]);
});

it('moves no further than a reading proves, because the response may have been delayed', () => {
  const machine = new FakeClock(0);
  const clock = new SharedClock(machine);
  clock.follow(1000, { asked: 0, answered: 10 });
  assert.equal(clock.now(), 995);
  machine.advance(100);
  clock.follow(1100, { asked: 100, answered: 140 });
  assert.equal(clock.now(), 1095, 'the reading is compatible with the previous one');
  clock.follow(1300, { asked: 100, answered: 140 });
  assert.equal(clock.now(), 1260, 'as early as it may be');
  clock.follow(500, { asked: 100, answered: 140 });
  assert.equal(clock.now(), 500, 'as late as it may be');
});
