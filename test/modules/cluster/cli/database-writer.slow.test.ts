/** An attacker who can write to the shared database, with the least rights of a gateway's role, and without the key. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Dispatch } from '../../../../schemas/generated/types.ts';
import type { Ending } from '../../../helpers/at-end.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import type { CliResult } from '../../../helpers/cli.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const KEY = 'be74f32f2fdaffd126997949ba91892414241432a5255403586b5ffc69447184';
const OTHER_KEY = '9c1f77d2b5e84a03c6b21e5df0a8437fe2c54b19';
const LITERAL = 'a-literal-secret-of-a-subscription';
/** @param agent the rest of its map */
const configOf = (route: string, keys = 'key: env:STORE_KEY', agent = 'command: [cat]') => `gateway:
  store: { postgres: env:DATABASE_URL${keys === '' ? '' : `, ${keys}`} }
platforms: { webhook: { enabled: true, port: 0, routes: { ${route}: { secret: env:HOOK_SECRET, prompt: "Hi {x}" } } } }
agent: { ${agent} }
`;

function makeNode(t: Ending, url: string, config: string, more: Record<string, string> = {}) {
  const home = tempDir(t);
  const env = { DATABASE_URL: url, HOOK_SECRET: 'a-secret-of-24-characters', STORE_KEY: KEY, ...more };
  writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
  const run = (...argv: string[]): Promise<CliResult> => runInProcess(argv, { home, env });
  const done = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...argv);
    assert.equal(code, 0, `${argv.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  const start = () => startGateway(t, { home, env, config });
  const subscribe = (name: string, ...flags: string[]) =>
    run('webhook', 'subscribe', name, '--prompt', 'Hi {x}', ...flags);
  const names = async (what: 'webhook' | 'job'): Promise<readonly string[]> =>
    (JSON.parse(await done(what, 'list', '--json')) as { name: string }[]).map(({ name }) => name).sort();
  /** The check of the rows, as `<status>: <detail>`. */
  const doctor = async (): Promise<string> => {
    const checks = JSON.parse((await run('doctor', '--json')).stdout) as Record<
      'check' | 'status' | 'detail',
      string
    >[];
    const rows = checks.find(({ check }) => check === 'rows');
    return `${rows?.status}: ${rows?.detail}`;
  };
  return { home, env, run, done, start, subscribe, names, doctor };
}

/**
 * A role with the rights that docs/scale.md gives to gateways. @returns a function that runs statements as that role
 */
async function makeWriter(
  t: Ending,
  url: string,
): Promise<(sql: string) => Promise<readonly Record<string, string>[]>> {
  const role = `writer_${randomBytes(4).toString('hex')}`;
  await runSql(url, `CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
  atEnd(t, () => runSql(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`));
  await runSql(
    url,
    `GRANT USAGE ON SCHEMA hookwright TO ${role}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hookwright TO ${role}`,
  );
  const as = new URL(url);
  [as.username, as.password] = [role, 'x'];
  return (sql) => runSql(as.href, `SET search_path = hookwright; ${sql}`);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Prints its arguments, its folder and a variable as a line of a file. */
const recorder = (file: string): string =>
  `[${[process.execPath, '-e', `const fs=require('fs');let s='';process.stdin.on('data',(c)=>{s+=c}).on('end',()=>{fs.appendFileSync('${file}',JSON.stringify([process.argv.slice(1),process.cwd(),s])+'\\n');process.stdout.write('ok')})`, '--', '--tools={toolsets}', '{session}', '{route}'].map((part) => JSON.stringify(part)).join(', ')}]`;

describe('a person who can write to the database', { skip: skipWithoutPostgres() }, () => {
  it('queues a prompt for an agent, but chooses no argument, path, header or address form', async (t) => {
    const url = await testDatabase(t);
    const file = join(tempDir(t), 'runs.jsonl');
    const node = makeNode(t, url, configOf('ci', '', `command: ${recorder(file)}, work: route`));
    await node.start();
    assert.match(await node.done('webhook', 'test', 'ci', '--payload', '{"x":"first"}'), /202/);
    const runs = async () =>
      existsSync(file)
        ? readFileSync(file, 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as [string[], string, string])
        : null;
    const [first] = await until(runs);
    const write = await makeWriter(t, url);
    await until(async () => (await write("SELECT ref FROM ended WHERE state = 'done'")).length === 1);
    const [stored] = await write('SELECT body FROM dispatch');
    const body = JSON.parse(stored?.body ?? '') as Dispatch;
    const forge = async (id: string, changes: Partial<Record<keyof Dispatch, unknown>>): Promise<void> => {
      const forged = { ...body, id, ...changes };
      const route = quoted(String(forged.route));
      await write(
        `INSERT INTO dispatch (ref, id, profile, route, job, mode, accepted_at, max_concurrent, head, targets, body)
         SELECT (SELECT max(ref) FROM dispatch) + 1000, ${quoted(id)}, profile, ${route}, job, mode, accepted_at, max_concurrent, head, targets,
           ${quoted(JSON.stringify(forged))} FROM dispatch ORDER BY ref LIMIT 1;
         INSERT INTO work (ref, lane, state, due_at, set_at)
         SELECT ref, json_build_array(profile, route)::text, 'pending', 1000, 1000 FROM dispatch WHERE id = ${quoted(id)}`,
      );
    };
    const endOf = (id: string) =>
      until(async () => {
        const listed = JSON.parse(await node.done('deliveries', 'list', '--json')) as Record<string, string | null>[];
        const { state, reason } = listed.find((one) => one.id === id) ?? {};
        return (state === 'done' || state === 'dead') && `${state}: ${reason}`;
      });
    const delivery = { target: 'log', extra: {}, unresolved: [] };
    const forgeries: Readonly<Record<string, Partial<Record<keyof Dispatch, unknown>>>> = {
      'a path as its route': { route: '../../../escaped' },
      'an option as its session': { session: '--session-of-mine' },
      'an option as a toolset': { toolsets: ['--dangerous'] },
      'a NUL in a toolset': { toolsets: ['a\0b'] },
      'a line feed in a skill': { skills: ['a\nb'] },
      'a path as a skill': { skills: ['../../../etc'] },
      'a header in its trace': { trace: 'a\r\nx-evil: 1' },
      'a path as its agent': { agent: '../cat' },
      'a path as a target': { deliveries: [{ ...delivery, target: '../log' }] },
      'an output of a different shape': { outputs: [{ name: 'x', fields: 1, allow: {}, max: 1, delivery }] },
    };
    for (const [n, [what, changes]] of Object.entries(forgeries).entries()) {
      await forge(`forged-${n}`, changes);
      assert.match(await endOf(`forged-${n}`), /^dead: .*\bforged-\d+\b/, what);
    }
    assert.equal((await runs())?.length, 1, 'none of them has reached the agent');
    assert.equal(existsSync(join(node.home, '..', 'escaped')), false);

    await forge('other', {
      prompt: 'another prompt',
      command: ['sh'],
      argv: ['sh'],
    } as object);
    assert.match(await endOf('other'), /^done: /);
    const [, second] = (await runs()) ?? [];
    assert.deepEqual(
      second,
      [first?.[0], first?.[1], 'another prompt'],
      'with the earlier arguments and in the earlier folder',
    );
  });

  it('adds no subscription with a known secret, and none that reads another file or runs another program', async (t) => {
    const url = await testDatabase(t);
    const config = configOf('ci');
    const node = makeNode(t, url, config);
    const gateway = await node.start();
    assert.equal((await node.subscribe('one', '--secret', LITERAL)).code, 0);
    const write = await makeWriter(t, url);
    const [before] = await write("SELECT body FROM document WHERE name = 'subscriptions'");
    const own = JSON.parse(before?.body ?? '') as Record<string, Record<string, unknown>>;
    const put = (entries: object) =>
      write(
        `UPDATE document SET version = version + 1, body = ${quoted(JSON.stringify(entries))} WHERE name = 'subscriptions'`,
      );
    const post = async (name: string) =>
      (await fetch(`${gateway.url}/webhooks/${name}`, { method: 'POST', body: '{}' })).status;
    await until(async () => (await post('one')) === 401);

    const evil = { prompt: 'x', secret: 'a-plain-secret-of-a-writer' };
    await put({
      ...own,
      evil,
      guess: { prompt: 'x', secret: 'env:HOME' },
      listed: { prompt: 'x', secrets: ['env:PATH'] },
    });
    await until(async () =>
      (await gateway.status()).store.refused.some((text) => /"evil", "guess", "listed"/.test(text)),
    );
    assert.deepEqual(
      [await post('evil'), await post('guess'), await post('listed'), await post('one')],
      [404, 404, 404, 401],
    );
    assert.match(await node.doctor(), /^failed: .*"evil"/);
    assert.deepEqual(await node.names('webhook'), ['one']);

    // A sealed secret can be decrypted only for its own subscription.
    await put({ ...own, moved: { prompt: 'x', secret: own.one?.secret } });
    await until(async () => (await post('moved')) === 503);
    assert.deepEqual((await gateway.status()).store.refused, []);

    await put({
      ...own,
      absolute: { prompt: 'x', secret: 'file:/etc/hostname' },
      climbing: { prompt: 'x', secret: 'file:secrets/../../x' },
      scripted: { prompt: 'x', secret: 'env:HOOK_SECRET', script: '../../bin/sh' },
      commanding: { prompt: 'x', secret: 'env:HOOK_SECRET', command: ['sh'] },
      strange: { prompt: 'x', secret: 'env:HOOK_SECRET', agent: 'unknown' },
      ci: { prompt: 'another prompt', secret: 'env:HOOK_SECRET' },
    });
    const rejected = await until(async () => {
      const found = (await gateway.status()).subscriptions.quarantined;
      return found.length >= 5 && found;
    });
    assert.deepEqual(rejected.map(({ name, reason }) => `${name} ${reason.split(':')[0]}`).sort(), [
      'absolute secret-reference',
      'climbing secret-reference',
      'commanding unknown-key',
      'scripted script-outside',
      'strange unknown-agent',
    ]);
    assert.equal(await post('absolute'), 404);
    assert.match(await node.done('webhook', 'test', 'ci', '--payload', '{"x":"mine"}'), /202/);
    const prompts = await until(async () => {
      const rows = await write("SELECT body FROM dispatch WHERE route = 'ci'");
      return rows.length > 0 && rows.map(({ body = '' }) => (JSON.parse(body) as Dispatch).prompt);
    });
    assert.deepEqual(prompts, ['Hi mine'], 'the route of the configuration is the one that is served');

    await write("UPDATE document SET version = version + 1, body = '[]' WHERE name = 'subscriptions'");
    await until(async () => (await gateway.status()).store.refused.some((text) => /not a JSON object/.test(text)));
    assert.equal(await post('one'), 401, 'the previous ones are served');
    assert.match(await node.doctor(), /^failed: /);
    assert.equal((await node.subscribe('two', '--secret', 'env:HOOK_SECRET')).code, 0);
    await until(async () => (await gateway.status()).store.refused.length === 0);
    assert.match(await node.doctor(), /^ok: /);
  });

  it('adds no job with other arguments, and no invalid request is shown', async (t) => {
    const url = await testDatabase(t);
    const node = makeNode(t, url, configOf('ci'));
    const gateway = await node.start();
    await node.done('job', 'create', 'nightly', '--schedule', '0 3 * * *', '--prompt', 'Say good night');
    assert.match(await node.done('webhook', 'test', 'ci', '--payload', '{"x":"first"}'), /202/);
    const write = await makeWriter(t, url);
    const [stored] = await write('SELECT body FROM job');
    const body = JSON.parse(stored?.body ?? '') as Record<string, unknown>;
    const changed = "UPDATE meta SET value = (value::bigint + 1)::text WHERE key = 'jobs_version'";
    const forge = (id: string, changes: object) => {
      const forged = { ...body, id, name: id, ...changes };
      return write(
        `INSERT INTO job VALUES (${quoted(id)}, 'default', ${quoted(forged.name)}, ${quoted(JSON.stringify(forged))}); ${changed}`,
      );
    };
    await forge('options', { toolsets: ['--dangerous'] });
    await forge('paths', { agent: '../../bin/sh' });
    await forge('folders', { profile: '../other' });
    await forge('segments', { deliver: [{ target: 'log', extra: { chat_id: [{ kind: 'secret', name: 'X' }] } }] });
    await forge('renamed', { name: 'nightly2', id: 'nightly' });
    const refused = await until(async () =>
      (await gateway.status()).store.refused.find((text) => /jobs/.test(text) && /renamed/.test(text)),
    );
    for (const name of ['options', 'paths', 'folders', 'segments']) assert.ok(refused.includes(`"${name}"`), name);
    assert.deepEqual(await node.names('job'), ['nightly']);
    assert.match(await node.doctor(), /^failed: .*"options"/);
    // A new job can replace an invalid one of its name.
    await node.done('job', 'create', 'options', '--schedule', '0 5 * * *', '--prompt', 'Say good morning');
    assert.deepEqual(await node.names('job'), ['nightly', 'options']);
    await write(`DELETE FROM job WHERE id IN ('paths', 'folders', 'segments', 'renamed'); ${changed}`);
    await until(async () => (await gateway.status()).store.refused.length === 0);
    assert.match(await node.doctor(), /^ok: /);

    const list = async () => JSON.parse(await node.done('requests', 'list', '--json')) as { id: string }[];
    const [captured] = await until(async () => (await list()).length > 0 && list());
    const [request] = await write('SELECT n, head FROM request ORDER BY n LIMIT 1');
    const head = JSON.parse(request?.head ?? '') as object;
    for (const changes of [{ headers: 'x' }, { headers: [['a', 1]] }, { path: 1 }, { verified: 'yes' }]) {
      await write(
        `UPDATE request SET head = ${quoted(JSON.stringify({ ...head, ...changes }))} WHERE n = ${request?.n}`,
      );
      assert.equal((await node.run('requests', 'replay', captured?.id ?? '')).code, 1, JSON.stringify(changes));
    }
    await write(`UPDATE request SET head = ${quoted(request?.head ?? '')} WHERE n = ${request?.n}`);
    assert.match(await node.done('requests', 'replay', captured?.id ?? ''), /202/);
  });

  it('reads no secret, and a gateway with another key names the subscriptions that it cannot decrypt', async (t) => {
    const url = await testDatabase(t);
    const node = makeNode(t, url, configOf('ci'));
    assert.equal((await node.subscribe('one', '--secret', LITERAL)).code, 0);
    await node.done('job', 'create', 'nightly', '--schedule', '0 3 * * *', '--prompt', 'Say good night');
    const write = await makeWriter(t, url);
    const [stored] = await write("SELECT body FROM document WHERE name = 'subscriptions'");
    assert.equal(stored?.body?.includes(LITERAL), false);

    const other = makeNode(t, url, configOf('ci'), { STORE_KEY: OTHER_KEY });
    assert.match((await other.run('webhook', 'list')).stderr, /"one"/);
    assert.deepEqual(await other.names('job'), ['nightly']);
    const gateway = await other.start();
    assert.deepEqual((await gateway.status()).store.refused, []);

    const keyless = makeNode(t, url, configOf('ci', ''));
    const literal = await keyless.subscribe('two', '--secret', LITERAL);
    assert.equal(literal.code, 1);
    assert.match(literal.stderr, /gateway\.store\.key/);
    assert.equal((await keyless.subscribe('two', '--secret', 'env:HOOK_SECRET')).code, 0);
    assert.match(await keyless.doctor(), /^ok: /);
    assert.deepEqual(await node.names('webhook'), ['one', 'two']);
    assert.match(await node.done('webhook', 'show', 'one', '--reveal'), new RegExp(LITERAL));
  });
});
