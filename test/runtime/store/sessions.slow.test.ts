/** Sessions of chats: files of a home and rows of a shared database behave the same. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { fileSessions } from '../../../runtime/deliver/sessions.ts';
import type { Sessions } from '../../../runtime/store/shared.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { skipWithoutPostgres } from '../../helpers/postgres/binaries.ts';
import { testDatabase } from '../../helpers/postgres/database.ts';
import { openTestStore } from '../../helpers/postgres/store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** The same sessions, as two processes see them. */
type OpenSessions = (t: TestContext) => Promise<readonly [Sessions, Sessions]>;

const inFiles: OpenSessions = async (t) => {
  const home = tempDir(t);
  const open = (): Sessions => fileSessions((profile) => join(home, profile));
  return [open(), open()];
};

const inDatabase: OpenSessions = async (t) => {
  const url = await testDatabase(t);
  const open = async (): Promise<Sessions> => {
    const store = await openTestStore(url, 's');
    atEnd(t, () => store.close());
    assert.ok(store.state !== null);
    return store.state.sessions;
  };
  return [await open(), await open()];
};

const CHAT = { profile: 'default', target: 'messenger_a', chatId: '-100\u0000"' };
const turn = (content: string) => ({ role: 'user', content, at: '2026-01-01T00:00:00.000Z' });

for (const [where, open, skip] of [
  ['in files', inFiles, false],
  ['in a database', inDatabase, skipWithoutPostgres()],
] as const) {
  describe(`sessions ${where}`, { skip }, () => {
    it('begin once, when they are opened', async (t) => {
      const [here, there] = await open(t);
      assert.equal(await here.append(CHAT, turn('too early')), false);
      assert.equal(await there.read(CHAT), null);
      assert.equal((await here.open(CHAT)).created, true);
      assert.equal((await there.open(CHAT)).created, false);
      assert.deepEqual(await there.read(CHAT), []);
    });

    it('keep the turns of all writers, each whole and in order', async (t) => {
      const [here, there] = await open(t);
      await here.open(CHAT);
      const said = (who: string) => Array.from({ length: 10 }, (_unused, n) => `${who} ${n} \u0000 "\n`);
      await Promise.all(
        [here, there].map(async (sessions, index) => {
          for (const content of said(`${index}`)) assert.equal(await sessions.append(CHAT, turn(content)), true);
        }),
      );
      const turns = (await here.read(CHAT)) ?? [];
      assert.equal(turns.length, 20);
      for (const who of ['0', '1']) {
        const of = turns.map(({ content }) => content).filter((content) => content.startsWith(who));
        assert.deepEqual(of, said(who));
      }
      assert.deepEqual({ ...turns[0] }, turn(turns[0]?.content ?? ''));
    });

    it('are listed by target and chat, of one profile', async (t) => {
      const [here, there] = await open(t);
      for (const [profile, target, chatId] of [
        ['default', 'b', '2'],
        ['default', 'b', '1'],
        ['default', 'a', '3'],
        ['work', 'a', '4'],
      ] as const)
        await here.open({ profile, target, chatId });
      await here.append({ profile: 'default', target: 'b', chatId: '1' }, turn('hi'));
      const listed = await there.list('default');
      assert.deepEqual(
        listed.map(({ target, chat_id, turns }) => [target, chat_id, turns]),
        [
          ['a', '3', 0],
          ['b', '1', 1],
          ['b', '2', 0],
        ],
      );
      for (const { changed_at } of listed) assert.match(changed_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.deepEqual(await there.list('absent'), []);
    });
  });
}
