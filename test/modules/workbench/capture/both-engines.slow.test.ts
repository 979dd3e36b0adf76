/** Tests that a file and the database that gateways share capture requests alike. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { FileWriter } from '../../../../modules/workbench/runtime/capture/capture-thread.ts';
import type { CaptureEngine } from '../../../../modules/workbench/runtime/capture/queue.ts';
import { sharedEngine } from '../../../../modules/workbench/runtime/capture/queue.ts';
import type { UnfinishedRecord } from '../../../../modules/workbench/runtime/capture/record.ts';
import { RequestFileReader } from '../../../../modules/workbench/runtime/capture/request-file.ts';
import type { CaptureLimits } from '../../../../modules/workbench/runtime/capture/requests.ts';
import { capturedRequests, firstNumber, idOf } from '../../../../modules/workbench/runtime/capture/requests.ts';
import type { KeptHead } from '../../../../runtime/intake/keeper.ts';
import { silentLog } from '../../../../runtime/platform/log.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { testDatabase } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

async function inFile(t: TestContext): Promise<CaptureEngine> {
  const path = join(tempDir(t), 'requests.db');
  const [writer, reader] = [new FileWriter(path), new RequestFileReader(path)];
  return {
    store: (request) => writer.store(request),
    requests: capturedRequests(reader),
    close: async () => {
      writer.close();
      reader.close();
    },
  };
}

async function inDatabase(t: TestContext): Promise<CaptureEngine> {
  const store = await openTestStore(await testDatabase(t), 'kept');
  atEnd(t, () => store.close());
  if (store.state === null) throw new Error('a database keeps requests');
  return sharedEngine(store.state.requests, silentLog);
}

const NO_LIMITS: CaptureLimits = { before: 0, maxBytes: 1e9 };

const headOf = (parts: Partial<KeptHead>): KeptHead => ({
  ...{ at: 1000, profile: 'default', route: 'ci', method: 'POST', outcome: 'accepted', status: 202 },
  ...{ stage: 'dispatch', reason: null, event: 'push', delivery_id: 'd', verified: true, body_bytes: 1 },
  ...{ path: '/webhooks/ci', headers: [], body_sha256: null, scheme: null, about: null, cause: null },
  ...{ dispatch_id: null, replay_of: null, ms: 1 },
  ...parts,
});

/** Creates a request received in this millisecond. */
const at = (ms: number, parts: Partial<KeptHead> = {}, body: string | Buffer = '{}'): UnfinishedRecord => ({
  number: firstNumber(ms),
  head: headOf({ at: ms, ...parts }),
  body: Buffer.from(body as string),
  credentials: { places: [], format: null },
  refused: null,
});

async function open(t: TestContext, make: (t: TestContext) => Promise<CaptureEngine>) {
  const { store, requests, close } = await make(t);
  atEnd(t, close);
  const write = (
    records: readonly UnfinishedRecord[],
    limits = NO_LIMITS,
    secrets = { known: 0, added: [] as string[] },
  ) => store({ records, limits, secrets }).then((written) => written?.stored ?? null);
  const list = async (...args: Partial<Parameters<typeof requests.list>>): Promise<number[]> =>
    (await requests.list(args[0] ?? {}, args[1] ?? { limit: 100 })).map((found) => found.at);
  return { write, list, requests };
}

for (const [name, make, skip] of [
  ['a file', inFile, false],
  ['the database', inDatabase, skipWithoutPostgres()],
] as const) {
  describe(`requests captured in ${name}`, { skip }, () => {
    it('are filtered and paged', async (t) => {
      const { write, list } = await open(t, make);
      const records = [
        at(1000),
        at(2000, { route: 'other', outcome: 'ignored', reason: 'filter' }, '{"word":"Grüße_%"}'),
        at(3000, { profile: 'work', event: 'a\0b' }, Buffer.from([0xff, 0x00, 0x41, 0x42, 0x5c])),
      ];
      assert.equal(await write(records), 3);
      assert.equal(await write([at(1000)]), 0, 'its number is taken');
      assert.deepEqual(await list(), [3000, 2000, 1000]);
      assert.deepEqual(await list({ route: 'other' }), [2000]);
      assert.deepEqual(await list({ profile: 'work', outcome: 'accepted' }), [3000]);
      assert.deepEqual(await list({ reason: 'filter' }), [2000]);
      assert.deepEqual(await list({ since: 2000 }), [3000, 2000]);
      assert.deepEqual(await list({ until: 3000 }), [2000, 1000]);
      assert.deepEqual(await list({ since: 2000, until: 2001 }), [2000]);
      assert.deepEqual(await list({ until: 3000 }, { limit: 5, before: idOf(firstNumber(2000)) }), [1000]);
      assert.deepEqual(await list({ until: 2000 }, { limit: 5, before: idOf(firstNumber(3000)) }), [1000]);
      assert.deepEqual(await list({}, { limit: 1 }), [3000]);
      assert.deepEqual(await list({}, { limit: 5, before: idOf(firstNumber(2000)) }), [1000]);
      assert.deepEqual(await list({}, { limit: 5, after: idOf(firstNumber(1000)) }), [2000, 3000]);
      assert.deepEqual(await list({}, { limit: 5, skip: 1 }), [2000, 1000]);
      assert.deepEqual(await list({}, { limit: 5, down_to: idOf(firstNumber(2000)) }), [3000, 2000]);
      assert.deepEqual(await list({ grep: 'WORD' }), [2000]);
      assert.deepEqual(await list({ grep: 'üße_%' }), [2000]);
      assert.deepEqual(await list({ grep: '/hooks/' }), []);
    });

    it('are loaded byte for byte, by the beginning of their id', async (t) => {
      const { write, requests } = await open(t, make);
      const bytes = Buffer.from([0xff, 0x00, 0x5c, 0x41]);
      await write([at(1000, { event: 'a\0b' }, bytes), at(1001)]);
      const id = idOf(firstNumber(1000));
      const found = await requests.load(id);
      assert.ok(found.kind === 'found');
      assert.deepEqual([found.request.id, found.request.event], [id, 'a\0b']);
      assert.deepEqual(Buffer.from(found.request.body ?? '', 'base64'), bytes);
      assert.equal((await requests.load(id.slice(0, 5))).kind, 'ambiguous');
      assert.equal((await requests.load('zzzzzzzzzz')).kind, 'unknown');
      assert.equal((await requests.load('%')).kind, 'unknown');
    });

    it('contain no known secrets', async (t) => {
      const { write, requests } = await open(t, make);
      const secret = 'a-secret-that-is-known';
      assert.equal(await write([], NO_LIMITS, { known: 5, added: [] }), null, 'all are to be told again');
      await write([at(1000, { path: `/x?y=${secret}` }, `{"a":"${secret}"}`)], NO_LIMITS, {
        known: 0,
        added: [secret],
      });
      const found = await requests.load(idOf(firstNumber(1000)));
      assert.ok(found.kind === 'found');
      assert.ok(!JSON.stringify(found.request).includes(secret));
      assert.ok(!Buffer.from(found.request.body ?? '', 'base64').includes(secret));
    });

    it('expire, and the oldest are removed when space is exceeded', async (t) => {
      const { write, list } = await open(t, make);
      const body = 'x'.repeat(100_000);
      await write(Array.from({ length: 30 }, (_, n) => at(1000 + n, { body_bytes: body.length }, body)));
      await write([], { before: firstNumber(1010), maxBytes: 1e9 });
      assert.deepEqual([(await list()).length, (await list()).at(-1)], [20, 1010]);
      await write([], { before: 0, maxBytes: 1_000_000 });
      const left = await list();
      assert.ok(left.length >= 7 && left.length < 11, `${left.length} are left of a megabyte`);
      assert.equal(left[0], 1029);
    });
  });
}
