/**
 * The store of a program without the module `rescue`: it runs and resumes after a kill, and the module can be added and
 * removed.
 */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { AgentRequest, HookwrightOptions } from '../../../../main/hookwright.ts';
import { hookwright } from '../../../../main/hookwright.ts';
import * as exported from '../../../../main/modules-entry.ts';
import { StoreRefused } from '../../../../runtime/store/contract.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { openOfflineStore } from '../../../../runtime/store/sqlite/open-store.ts';
import { walFrames } from '../../../faults/wal.ts';
import { makeAccept } from '../../../helpers/dispatches.ts';
import { recordLog } from '../../../helpers/log.ts';
import * as rescued from '../../../helpers/rescued-store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const config = {
  platforms: { webhook: { enabled: true, secret: 'env:SECRET', routes: { hello: { prompt: '{name}' } } } },
};
const modules = Object.values(exported).filter(({ name }) => name !== 'rescue');
const ENDS = ['', '-wal', '-shm', '-wal.id', '.id'];

/** An agent that ends with its service. */
const unfinished = ({ signal }: AgentRequest): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));

function copyStore(from: string, to: string): void {
  for (const end of ENDS) if (existsSync(from + end)) copyFileSync(from + end, to + end);
}

/** The path of a copy of the files, as a kill at this moment leaves them. */
function killed(t: TestContext, path: string): string {
  const to = join(tempDir(t), 'state.db');
  copyStore(path, to);
  return to;
}

/** The ids in the store, and the reported damage. */
async function look(path: string, open: typeof openOfflineStore) {
  const store = await open(path);
  const rows = await store.read({ kind: 'list', filter: { limit: 99 } });
  const { damage } = await store.read({ kind: 'overview', now: 0 });
  await store.close();
  return { ids: rows.map(({ id }) => id).sort(), damage };
}

async function use(t: TestContext, path: string, open: typeof openOfflineStore, id: string) {
  const store = await open(path);
  t.after(() => store.close());
  await store.write(makeAccept(id));
  return store;
}

describe('a service without the module', () => {
  it('runs, and resumes its work after a kill; so does one with the module, and reports nothing', async (t) => {
    const [home, next] = [tempDir(t), join(tempDir(t), 'home')];
    const base = { config, env: { SECRET: 'a-secret-of-a-service' } };
    const log = recordLog();
    const open = async (options: Partial<HookwrightOptions>) => {
      const hooks = await hookwright({ ...base, log, ...options });
      t.after(() => hooks.stop({ drainMs: 0 }));
      return hooks;
    };
    const first = await open({ home, modules, agent: unfinished });
    for (const name of ['one', 'two']) assert.equal((await first.emit('hello', { name })).outcome, 'accepted');
    assert.ok(!existsSync(join(home, 'state.db.id')));
    mkdirSync(next);
    copyStore(join(home, 'state.db'), join(next, 'state.db'));
    const prompts: string[] = [];
    const agent = async (request: AgentRequest): Promise<string> => {
      prompts.push(request.prompt);
      return request.prompt === 'two' ? unfinished(request) : 'done';
    };
    const second = await open({ home: next, modules, agent });
    await new Promise<void>((resolve) => second.on('finished', () => resolve()));
    assert.deepEqual([...prompts].sort(), ['one', 'two']);
    await second.stop({ drainMs: 0 });
    const third = await open({ home: next, agent: async () => 'done' });
    await new Promise<void>((resolve) => third.on('finished', () => resolve()));
    const { store, dispatches } = await third.service.status();
    assert.deepEqual([store.damage, dispatches?.states.done], [null, 2]);
    assert.ok(existsSync(join(next, 'state.db.id')));
    assert.deepEqual(
      log.lines.filter(({ level }) => level === 'error'),
      [],
    );
  });
});

describe('a file that is used with the module and without it', () => {
  it('lacks nothing, and no damage is reported, whichever was killed', async (t) => {
    const path = join(tempDir(t), 'state.db');
    await use(t, path, rescued.openOfflineStore, 'with');
    const afterWith = killed(t, path);
    await use(t, afterWith, openOfflineStore, 'without');
    const afterWithout = killed(t, afterWith);
    assert.deepEqual(await look(afterWithout, rescued.openOfflineStore), { ids: ['with', 'without'], damage: null });
    const closed = killed(t, path);
    await look(closed, openOfflineStore);
    assert.deepEqual(await look(closed, rescued.openOfflineStore), { ids: ['with'], damage: null });
  });
});

describe('the store without the module', () => {
  it('starts empty when the file is missing, and reads a damaged log up to the damage', async (t) => {
    const path = join(tempDir(t), 'state.db');
    for (const id of ['a', 'b', 'c']) await (await use(t, path, openOfflineStore, id)).close();
    const open = await use(t, path, openOfflineStore, 'd');
    await open.write(makeAccept('e'));
    const copy = killed(t, path);
    const bytes = readFileSync(`${copy}-wal`);
    const at = (walFrames(bytes)[0]?.at ?? 0) + 100;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(`${copy}-wal`, bytes);
    assert.deepEqual(await look(copy, openOfflineStore), { ids: ['a', 'b', 'c'], damage: null });
    assert.deepEqual((await look(join(tempDir(t), 'state.db'), openOfflineStore)).ids, []);
  });

  it('rejects a file that is not a database, is damaged, or is of a newer version', async (t) => {
    const folder = tempDir(t);
    const [text, damaged, newer] = ['text', 'damaged', 'newer'].map((name) => join(folder, name, 'state.db')) as [
      string,
      string,
      string,
    ];
    for (const path of [damaged, newer]) await (await use(t, path, openOfflineStore, 'a')).close();
    mkdirSync(join(folder, 'text'));
    writeFileSync(text, 'no database, but long enough to be one'.repeat(50));
    const bytes = readFileSync(damaged);
    writeFileSync(damaged, bytes.fill(0xff, 100, 4096));
    const db = connect(newer, { busyMs: 0 });
    db.exec('PRAGMA user_version = 99');
    db.close();
    for (const [path, message] of [
      [text, /not a database/],
      [damaged, /is damaged: /],
      [newer, /newer hookwright/],
    ] as const)
      await assert.rejects(
        openOfflineStore(path),
        (error) => error instanceof StoreRefused && message.test(error.message),
      );
  });
});
