/** Commands on a node without a running gateway: they use the database of the configuration. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Ending } from '../../../helpers/at-end.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import type { CliResult } from '../../../helpers/cli.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { makeAccept, makeAdvance, makeTake } from '../../../helpers/dispatches.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const CONFIG = `gateway: { store: { postgres: env:DATABASE_URL } }
platforms: { webhook: { enabled: true, secret: a-secret-of-24-characters, routes: { alerts: { prompt: "{title}" } } } }
`;
const CREATE = ['job', 'create', 'report', '--schedule', '0 8 * * *', '--prompt', 'Write it.', '--timezone', 'UTC'];
const PASSWORD = 'pass-word-of-a-test';

describe('a command without a gateway', { skip: skipWithoutPostgres() }, () => {
  /** A node: a home with the configuration, and commands in it. */
  function makeNode(t: Ending, url: string | null) {
    const home = tempDir(t);
    writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
    const env = url === null ? {} : { DATABASE_URL: url };
    const run = (...argv: string[]): Promise<CliResult> => runInProcess(argv, { home, env });
    const json = async (...argv: string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await run(...argv, '--json');
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout);
    };
    return { home, run, json, leavesNoFile: () => assert.equal(existsSync(join(home, 'state.db')), false) };
  }

  it('creates and changes jobs that every node sees', async (t) => {
    const url = await testDatabase(t);
    const [a, b] = [makeNode(t, url), makeNode(t, url)];
    assert.deepEqual(await b.json('job', 'list'), [], 'before there are tables');
    assert.deepEqual(await runSql(url, "SELECT 1 FROM pg_tables WHERE schemaname = 'hookwright'"), []);
    const made = await a.run(...CREATE);
    assert.equal(made.code, 0, made.stderr);
    assert.equal((await b.run('job', 'pause', 'report')).code, 0);
    const [job] = (await a.json('job', 'list')) as [{ name: string; state: string }];
    assert.deepEqual([job.name, job.state], ['report', 'paused']);
    const { dispatch } = (await b.json('job', 'run', 'report')) as { dispatch: string };
    const [run] = (await a.json('deliveries', 'list')) as [{ id: string; state: string }];
    assert.deepEqual([run.id, run.state], [dispatch, 'pending']);
    assert.equal((await a.run('job', 'remove', 'report')).code, 0);
    assert.deepEqual(await b.json('job', 'list'), []);
    for (const node of [a, b]) node.leavesNoFile();
  });

  it('opens and shows sessions that every node sees', async (t) => {
    const url = await testDatabase(t);
    const [a, b] = [makeNode(t, url), makeNode(t, url)];
    assert.deepEqual(await b.json('session', 'list'), [], 'before there are tables');
    const opened = await a.run('session', 'open', 'log', '-100');
    assert.deepEqual([opened.code, opened.stdout], [0, '-100\n'], opened.stderr);
    const [session] = (await b.json('session', 'list')) as [{ chat_id: string; path: null; turns: number }];
    assert.deepEqual([session.chat_id, session.path, session.turns], ['-100', null, 0]);
    assert.deepEqual(await b.json('session', 'show', 'log', '-100'), []);
    assert.match((await b.run('session', 'show', 'log', '7')).stderr, /\b7\b.*\blog\b/);
    for (const node of [a, b]) assert.equal(existsSync(join(node.home, 'sessions')), false);
  });

  it('repeats work of another node, takes none, and notifies the gateways', async (t) => {
    const url = await testDatabase(t);
    const store = await openTestStore(url, 'hookwright');
    atEnd(t, () => store.close());
    await store.write(makeAccept('done-before'));
    const [run] = (await store.write(makeTake(2000, { holder: 'one' }))).runs;
    assert.equal(
      await store.write({ ...makeAdvance(run?.ref ?? 0, 'done', 3000, { answer: 'text' }), holder: 'one' }),
      true,
    );
    const heard = new Promise<void>((resolve) =>
      store.shared?.watch((change) => {
        if (change === 'work') resolve();
      }),
    );
    await store.read({ kind: 'jobs_version' });
    const node = makeNode(t, url);
    const [first] = (await node.json('deliveries', 'list')) as [{ id: string }];
    const [repeated] = (await node.json('deliveries', 'replay', first.id)) as [{ id: string }];
    await heard;
    assert.equal((await store.write(makeTake(Date.now() + 1000, { holder: 'one' }))).runs.length, 1);
    assert.equal(((await node.json('deliveries', 'show', repeated.id)) as { state: string }).state, 'running');
    assert.deepEqual(await store.read({ kind: 'audit' }), []);
    const [{ nodes }] = (await runSql<{ nodes: number }>(
      url,
      'SELECT count(*)::int AS nodes FROM hookwright.node',
    )) as [{ nodes: number }];
    assert.equal(nodes, 1, 'a command is not a node');
    node.leavesNoFile();
  });

  it('finds the database of the configuration that --config names', async (t) => {
    const url = await testDatabase(t);
    const node = makeNode(t, url);
    const elsewhere = join(tempDir(t), 'other.yaml');
    writeFileSync(elsewhere, CONFIG.replace('DATABASE_URL', 'DATABASE_URL, schema: other'), { mode: 0o600 });
    assert.equal((await node.run(...CREATE, '--config', elsewhere)).code, 0);
    assert.deepEqual(await node.json('job', 'list'), []);
    assert.equal(((await node.json('job', 'list', '--config', elsewhere)) as unknown[]).length, 1);
  });

  it('reports why the database is unavailable, without a password', async (t) => {
    const node = makeNode(t, `postgres://user:${PASSWORD}@127.0.0.1:1/none`);
    for (const argv of [['deliveries', 'list'], ['job', 'list'], CREATE]) {
      const { code, stdout, stderr } = await node.run(...argv);
      assert.equal(code, 1);
      assert.match(stderr, /^error: .*ECONNREFUSED/m);
      assert.equal(`${stdout}${stderr}`.includes(PASSWORD), false);
    }
    const unset = await makeNode(t, null).run('deliveries', 'list');
    assert.deepEqual([unset.code, /gateway\.store\.postgres: .*DATABASE_URL/.test(unset.stderr)], [1, true]);
    node.leavesNoFile();
  });

  it('compiles without the database, which CI does not have', async (t) => {
    const away = await makeNode(t, `postgres://user:${PASSWORD}@127.0.0.1:1/none`).run('lint');
    assert.equal(away.code, 0, away.stderr);
    assert.notEqual(away.stderr, '');
    const unset = await makeNode(t, null).run('compile');
    assert.deepEqual([unset.code, unset.stderr], [0, '']);
  });

  it('uses the file if the store is one, and only the store if a route is broken', async (t) => {
    const url = await testDatabase(t);
    const node = makeNode(t, url);
    assert.equal((await node.run(...CREATE)).code, 0);
    assert.equal((await node.run('job', 'run', 'report')).code, 0);
    writeFileSync(join(node.home, 'config.yaml'), CONFIG.replace('{title}', '{title'));
    assert.equal(((await node.json('deliveries', 'list')) as unknown[]).length, 1);
    writeFileSync(join(node.home, 'config.yaml'), CONFIG.replace(/^gateway.*\n/, ''));
    assert.deepEqual(await node.json('deliveries', 'list'), []);
    writeFileSync(join(node.home, 'config.yaml'), 'gateway: { store: [');
    assert.match((await node.run('deliveries', 'list')).stderr, /\n.*hookwright lint/);
  });
});
