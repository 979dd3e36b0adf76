/**
 * A person who edits the rows of a store: every column and every value of a waiting run's body is replaced by values of an
 * attacker. Each run either ends with an error that names it and starts no program, or has its arguments and folder as before.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DatabaseSync } from '@photostructure/sqlite';
import { runInProcess } from '../helpers/cli.ts';
import { startGateway, until } from '../helpers/gateway.ts';
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
const env = { HOOK_SECRET: 'a-secret-of-24-characters' };

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

test('an edited row chooses no argument, variable, folder or address of a run', async (t) => {
  const home = tempDir(t);
  const file = join(tempDir(t), 'runs.jsonl');
  const program = join(home, 'record.cjs');
  writeFileSync(
    program,
    `const fs=require('fs');fs.readFileSync(0);fs.appendFileSync(${JSON.stringify(file)},JSON.stringify([process.argv.slice(2),process.cwd(),process.env.HOOKWRIGHT_SKILLS,process.env.HOOKWRIGHT_DELIVERY_ID])+'\\n');process.stdout.write('ok')`,
  );
  const config = `platforms: { webhook: { enabled: true, port: 0, routes: { ci: { secret: env:HOOK_SECRET, prompt: "Hi {x}", skills: [brief], toolsets: [web] } } } }
agent: { command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(program)}, '--tools={toolsets}', '{session}', '{route}', '{profile}'], work: route }
gateway: { max_concurrent_runs: 4 }
`;
  const first = await startGateway(t, { home, env, config });
  assert.match((await first.cli('webhook', 'test', 'ci', '--payload', '{"x":1}')).stdout, /202/);
  const runs = (): unknown[][] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown[])
      : [];
  await until(async () => runs().length === 1);
  await first.stop();
  const [[argv, cwd, skills] = []] = runs();

  const db = new DatabaseSync(join(home, 'state.db'));
  const row = db.prepare('SELECT * FROM dispatch').get() as Json;
  const work = db.prepare('SELECT * FROM work').get() as Json;
  const insert = (table: string, values: Json): void => {
    const names = Object.keys(values);
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    db.prepare(sql).run(...(Object.values(values) as string[]));
  };
  const edited = new Map<string, string>();
  const add = (what: string, body: Json, columns: Json = {}, progress: Json = {}): void => {
    const ref = 1000 + edited.size;
    const id = `edited-${ref}`;
    const own = body.id === row.id ? { ...body, id } : body;
    try {
      insert('dispatch', { ...row, ref, id, body: JSON.stringify(own), ...columns });
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
      insert('work', { ...work, ...waits, ref, turn: ref, holder: null, steps: 0, ...progress });
      edited.set(id, what);
    } catch {
      db.prepare('DELETE FROM dispatch WHERE ref = ?').run(ref);
    }
  };
  const body = JSON.parse(String(row.body)) as Json;
  for (const [what, changed] of edits(body, (bad) => bad as Json)) add(`body${what}`, changed);
  const plain = BAD.filter((bad) => bad === null || typeof bad === 'string' || typeof bad === 'number');
  for (const name of Object.keys(row).filter((one) => !['ref', 'id'].includes(one)))
    for (const bad of plain) add(`dispatch.${name} = ${JSON.stringify(bad)}`, body, { [name]: bad });
  for (const name of Object.keys(work).filter((one) => one !== 'ref'))
    for (const bad of plain) add(`work.${name} = ${JSON.stringify(bad)}`, body, {}, { [name]: bad });
  for (const lane of [
    '["default",""]',
    '["default"]',
    '[ "default", "ci" ]',
    '["default","ci",1]',
    '["","ci"]',
    '[null,null]',
    '[[]]',
  ])
    add(`work.lane = ${lane}`, body, {}, { lane });
  db.close();
  assert.ok(edited.size > 300, String(edited.size));

  const gateway = await startGateway(t, { home, env, config });
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
  t.diagnostic(`${edited.size} rows; ${dead.length} dead, ${runs().length} runs`);
});
