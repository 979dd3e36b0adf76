/**
 * A person who edits the rows of a store: every column and every value of a waiting run's body is replaced by values of an
 * attacker. Each run either ends with an error that names it and starts no program, or has its arguments and folder as before.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { DatabaseSync } from '@photostructure/sqlite';
import pg from 'pg';
import { runInProcess } from '../helpers/cli.ts';
import { startGateway, until } from '../helpers/gateway.ts';
import { skipWithoutPostgres } from '../helpers/postgres/binaries.ts';
import { testDatabase } from '../helpers/postgres/database.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const BAD: readonly unknown[] = [
  null,
  -1,
  1.5,
  2 ** 60,
  true,
  '',
  '--x',
  '../x',
  'a\0b',
  'a\r\nx: y',
  '/etc/x',
  {},
  [1],
];
const SECRETS = { HOOK_SECRET: 'a-secret-of-24-characters' };

type Json = Record<string, unknown>;

/** The body with the value at each path replaced; texts and lists are walked to their leaves. */
function edits(value: unknown, put: (bad: unknown) => Json, path = ''): [string, Json][] {
  const own = BAD.map((bad): [string, Json] => [`${path} = ${JSON.stringify(bad)}`, put(bad)]);
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const deeper = members.flatMap(([name, member]) =>
    edits(
      member,
      (bad) => {
        const copy = structuredClone(value) as Json;
        copy[name] = bad;
        return put(copy);
      },
      `${path}/${name}`,
    ),
  );
  return path === '' ? deeper : [...own, ...deeper];
}

/** The rows of a store, as an attacker reads and adds them. */
interface Rows {
  first(table: string): Promise<Json>;
  /** Rejects if the table does not take the values. */
  insert(table: string, values: Json): Promise<void>;
  remove(ref: number): Promise<void>;
  close(): Promise<void>;
}

function sqliteRows(file: string): Rows {
  const db = new DatabaseSync(file);
  return {
    first: async (table) => db.prepare(`SELECT * FROM ${table}`).get() as Json,
    async insert(table, values) {
      const names = Object.keys(values);
      const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
      db.prepare(sql).run(...(Object.values(values) as string[]));
    },
    remove: async (ref) => void db.prepare('DELETE FROM dispatch WHERE ref = ?').run(ref),
    close: async () => db.close(),
  };
}

async function postgresRows(connectionString: string): Promise<Rows> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return {
    first: async (table) => (await client.query(`SELECT to_json(r) AS row FROM hookwright.${table} r`)).rows[0].row,
    async insert(table, values) {
      const all = `SELECT * FROM json_populate_record(NULL::hookwright.${table}, $1)`;
      await client.query(`INSERT INTO hookwright.${table} ${all}`, [JSON.stringify(values)]);
    },
    remove: async (ref) => void (await client.query('DELETE FROM hookwright.dispatch WHERE ref = $1', [ref])),
    close: () => client.end(),
  };
}

test('an edited row of a file chooses no argument, variable, folder or address of a run', (t) =>
  edit(t, async (home) => sqliteRows(join(home, 'state.db'))));

test('an edited row of a shared database does not either', { skip: skipWithoutPostgres() }, async (t) => {
  const url = await testDatabase(t);
  await edit(t, () => postgresRows(url), url);
});

async function edit(t: TestContext, open: (home: string) => Promise<Rows>, url?: string): Promise<void> {
  const home = tempDir(t);
  const env = { ...SECRETS, ...(url === undefined ? {} : { DATABASE_URL: url }) };
  const file = join(tempDir(t), 'runs.jsonl');
  const program = join(home, 'record.cjs');
  writeFileSync(
    program,
    `const fs=require('fs');fs.readFileSync(0);fs.appendFileSync(${JSON.stringify(file)},JSON.stringify([process.argv.slice(2),process.cwd(),process.env.HOOKWRIGHT_SKILLS,process.env.HOOKWRIGHT_DELIVERY_ID])+'\\n');process.stdout.write('ok')`,
  );
  const config = `platforms: { webhook: { enabled: true, port: 0, routes: { ci: { secret: env:HOOK_SECRET, prompt: "Hi {x}", skills: [brief], toolsets: [web] } } } }
agent: { command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(program)}, '--tools={toolsets}', '{session}', '{route}', '{profile}'], work: route }
gateway: { max_concurrent_runs: 4${url === undefined ? '' : ', store: { postgres: env:DATABASE_URL }'} }
`;
  const first = await startGateway(t, { home, env, config });
  assert.match((await first.cli('webhook', 'test', 'ci', '--payload', '{"x":1}')).stdout, /202/);
  const runs = (): unknown[][] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as unknown[])
      : [];
  await until(async () => runs().length === 1);
  // A shared database keeps the progress of unfinished work only.
  await first.cli('route', 'pause', 'ci');
  assert.match((await first.cli('webhook', 'test', 'ci', '--payload', '{"x":3}')).stdout, /202/);
  await first.stop();
  const [[argv, cwd, skills] = []] = runs();

  const rows = await open(home);
  const row = await rows.first('dispatch');
  const work = await rows.first('work');
  const edited = new Map<string, string>();
  const add = async (what: string, body: Json, columns: Json = {}, progress: Json = {}): Promise<void> => {
    const ref = 1000 + edited.size;
    const id = `edited-${ref}`;
    const own = body.id === row.id ? { ...body, id } : body;
    try {
      await rows.insert('dispatch', { ...row, ref, id, body: JSON.stringify(own), ...columns });
    } catch {
      return;
    }
    try {
      const waits = {
        state: 'pending',
        due_at: 1000,
        set_at: 1000,
        started_at: null,
        answered_at: null,
        finished_at: null,
      };
      await rows.insert('work', { ...work, ...waits, ref, turn: ref, holder: null, steps: 0, ...progress });
      edited.set(id, what);
    } catch {
      await rows.remove(ref);
    }
  };
  const body = JSON.parse(String(row.body)) as Json;
  for (const [what, changed] of edits(body, (bad) => bad as Json)) await add(`body${what}`, changed);
  const plain = BAD.filter((bad) => bad === null || typeof bad === 'string' || typeof bad === 'number');
  for (const name of Object.keys(row).filter((one) => !['ref', 'id'].includes(one)))
    for (const bad of plain) await add(`dispatch.${name} = ${JSON.stringify(bad)}`, body, { [name]: bad });
  for (const name of Object.keys(work).filter((one) => one !== 'ref'))
    for (const bad of plain) await add(`work.${name} = ${JSON.stringify(bad)}`, body, {}, { [name]: bad });
  for (const lane of [
    '["default",""]',
    '["default"]',
    '[ "default", "ci" ]',
    '["default","ci",1]',
    '["","ci"]',
    '[null,null]',
    '[[]]',
  ])
    await add(`work.lane = ${lane}`, body, {}, { lane });
  await rows.close();
  assert.ok(edited.size > 300, String(edited.size));

  const gateway = await startGateway(t, { home, env, config });
  await gateway.cli('route', 'resume', 'ci');
  type Listed = Record<'id' | 'state' | 'reason', string>;
  let seen: readonly Listed[] = [];
  let stable = 0;
  await until(async () => {
    const { code, stdout } = await runInProcess(['deliveries', 'list', '--json', '--limit', '1000'], { home, env });
    // A command that comes before the gateway is ready reads the file itself, and may meet it half open.
    if (code !== 0) return false;
    const next = JSON.parse(stdout) as Listed[];
    const isSame = JSON.stringify(next) === JSON.stringify(seen);
    seen = next;
    stable = isSame ? stable + 1 : 0;
    return stable >= 6;
  });
  assert.ok((await gateway.status()).pid > 0, 'the gateway still runs');
  assert.match((await gateway.cli('webhook', 'test', 'ci', '--payload', '{"x":2}')).stdout, /202/);
  for (const run of runs()) {
    const [args, folder, loaded] = run as [string[], string, string];
    assert.deepEqual([args[0], args.slice(2), folder], [(argv as string[])[0], (argv as string[]).slice(2), cwd]);
    assert.match(String(args[1]), /^[a-z0-9]/);
    assert.equal(loaded, skills);
  }
  const dead = seen.filter(({ state }) => state === 'dead');
  for (const { id, reason } of dead)
    assert.match(reason, new RegExp(`damaged|profile|agent|target|${id}`), edited.get(id));
  assert.ok(dead.length > 300 && runs().length > 30, 'the other rows run, and the damaged ones end');
  t.diagnostic(`${edited.size} rows; ${dead.length} dead, ${runs().length} runs`);
}
