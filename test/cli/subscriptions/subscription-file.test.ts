import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { CliError } from '../../../cli/base/errors.ts';
import {
  findJsonFault,
  parseSubscriptions,
  updateSubscriptions,
} from '../../../cli/subscriptions/subscription-file.ts';
import { tryLock } from '../../../runtime/store/sqlite/file-lock.ts';
import { contextFor } from '../../helpers/cli.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const faults: readonly (readonly [text: string, offset: number | null])[] = [
  ['{}', null],
  [' {"a": {"b": [1, -2.5e3, true, null, "\\u00e9\\n"]}} \n', null],
  ['', 0],
  ['{"a":1,}', 7],
  ['{"a":1 "b":2}', 7],
  ['{"a": tru}', 6],
  ['{"a"', 4],
  ['{}x', 2],
  ['{"a":{},"b":{},"\\u0061":{}}', 15],
  ['{"a":01}', 6],
  ['[1,2', 4],
  ['['.repeat(300), 201],
];
for (const [text, offset] of faults) {
  test(`finds the error in ${JSON.stringify(text.slice(0, 30))}`, () => {
    assert.equal(findJsonFault(text)?.offset ?? null, offset);
  });
}

test('a file that is not a map of entries is rejected with the position', () => {
  assert.throws(() => parseSubscriptions('/h', '[]'), {
    message: /\/h\/webhook_subscriptions\.json:1:1: /,
  });
  assert.throws(() => parseSubscriptions('/h', '{\n"a": {},\n}'), { message: /:3:1: / });
});

test('a change keeps entries, unknown keys and unusual names, and makes the file private', async (t) => {
  const home = tempDir(t);
  const path = join(home, 'webhook_subscriptions.json');
  writeFileSync(path, '{"old": {"prompt": "x", "future_key": [1]}, "__proto__": {"prompt": "p"}}');
  chmodSync(path, 0o644);
  const count = await updateSubscriptions(contextFor({ home }), (entries) => ({
    entries: new Map([...entries, ['new', { prompt: 'y' }]]),
    result: entries.size,
  }));
  assert.equal(count, 2);
  assert.equal(
    JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))),
    '{"old":{"prompt":"x","future_key":[1]},"__proto__":{"prompt":"p"},"new":{"prompt":"y"}}',
  );
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a change that fails writes nothing and frees the lock', async (t) => {
  const home = tempDir(t);
  const context = contextFor({ home });
  const failing = updateSubscriptions(context, () => {
    throw new CliError('refused');
  });
  await assert.rejects(failing, { message: 'refused' });
  await updateSubscriptions(context, () => ({ entries: new Map([['a', {}]]), result: null }));
  assert.deepEqual(JSON.parse(readFileSync(join(home, 'webhook_subscriptions.json'), 'utf8')), { a: {} });
});

/** A change that waits behind a holder of the lock, with its own clock. */
function waitingChange(t: TestContext) {
  const home = tempDir(t);
  let tries = 0;
  class CountingClock extends FakeClock {
    override monotonic(): number {
      tries++;
      return super.monotonic();
    }
  }
  const clock = new CountingClock();
  const held = tryLock(join(home, 'run', 'subscriptions.lock'));
  assert.ok(held !== null);
  t.after(() => held.release());
  const context = contextFor({ home, context: { clock } });
  const change = updateSubscriptions(context, (entries) => ({ entries, result: [...entries.keys()] }));
  const triedAgain = async (): Promise<void> => {
    const before = tries;
    await until(async () => tries > before + 2);
  };
  return { held, change, clock, triedAgain, file: join(home, 'webhook_subscriptions.json') };
}

test('a change waits while other changes make progress', async (t) => {
  const { held, change, clock, triedAgain, file } = waitingChange(t);
  for (const text of ['{"one": {}}', '{"one": {}, "two": {}}']) {
    writeFileSync(file, text);
    clock.advance(61_000);
    await triedAgain();
  }
  held.release();
  assert.deepEqual(await change, ['one', 'two']);
});

test('a change fails if the holder of the lock makes no progress for a minute', async (t) => {
  const { change, clock, triedAgain } = waitingChange(t);
  await triedAgain();
  clock.advance(61_000);
  await assert.rejects(change, CliError);
});

test('many concurrent changes are all written', async (t) => {
  const home = tempDir(t);
  const context = contextFor({ home });
  const add = (name: string): Promise<null> =>
    updateSubscriptions(context, (entries) => ({ entries: new Map([...entries, [name, {}]]), result: null }));
  await Promise.all(Array.from({ length: 20 }, (_, at) => add(`s${at}`)));
  assert.equal(
    Object.keys(JSON.parse(readFileSync(join(home, 'webhook_subscriptions.json'), 'utf8')) as object).length,
    20,
  );
});
