/** Somebody who can write to the shared database, with the least rights that a gateway's role has, and no key. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
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
const SERVE = ['serve', '--table', 'store:', '--port', '0'];
const configOf = (route: string, keys = 'key: env:STORE_KEY') => `gateway:
  store: { postgres: env:DATABASE_URL${keys === '' ? '' : `, ${keys}`} }
platforms: { webhook: { enabled: true, port: 0, routes: { ${route}: { secret: env:HOOK_SECRET, prompt: "Hi {x}" } } } }
agent: { command: [cat] }
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
  /** @returns the hash */
  const push = async (text: string, ...flags: string[]): Promise<string> => {
    writeFileSync(join(home, 'config.yaml'), text, { mode: 0o600 });
    await done('compile', '--out', join(home, 'build'));
    return done('table', 'push', '--table', join(home, 'build'), ...flags);
  };
  const start = (argv?: readonly string[]) =>
    startGateway(t, { home, env, config, ...(argv === undefined ? {} : { argv }) });
  const doctor = async (): Promise<string> => {
    const checks = JSON.parse((await run('doctor', '--json')).stdout) as Record<
      'check' | 'status' | 'detail',
      string
    >[];
    const signed = checks.find(({ check }) => check === 'signed');
    return `${signed?.status}: ${signed?.detail}`;
  };
  return { home, env, run, done, push, start, doctor };
}

/** A role with the rights that docs/scale.md gives to gateways. @returns runs its statements */
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

describe('somebody who can write to the database', { skip: skipWithoutPostgres() }, () => {
  it('changes no table, brings none back, and makes none active', async (t) => {
    const url = await testDatabase(t);
    const [ci, node] = [makeNode(t, url, configOf('x')), makeNode(t, url, configOf('x'))];
    const [first, second] = [await ci.push(configOf('one')), await ci.push(configOf('two'))];
    await ci.done('table', 'activate', first);
    let gateway = await node.start(SERVE);
    const write = await makeWriter(t, url);
    const [old] = await write("SELECT body FROM document WHERE name = 'table'");
    await ci.done('table', 'activate', second);
    await until(async () => (await gateway.status()).table.hash === second);
    const [good] = await write(`SELECT files FROM route_table WHERE hash = '${second}'`);
    const [active] = await write("SELECT body FROM document WHERE name = 'table'");
    const files = JSON.stringify(JSON.parse((good?.files ?? '').split('\n')[1] ?? '')).replaceAll('cat', 'sh');
    const point = (body: string) => `UPDATE document SET version = version + 1, body = '${body}' WHERE name = 'table'`;
    const attacks: readonly (readonly [what: string, sql: string, said: RegExp])[] = [
      [
        'another argv',
        `UPDATE route_table SET files = replace(files, 'cat', 'sh') WHERE hash = '${second}'; ${point(active?.body ?? '')}`,
        /table [0-9a-f]{12} .*altered/,
      ],
      [
        'a plain table',
        `UPDATE route_table SET files = '${files.replaceAll("'", "''")}' WHERE hash = '${second}'; ${point(active?.body ?? '')}`,
        /table [0-9a-f]{12} .*not signed/,
      ],
      [
        'the files of another table',
        `UPDATE route_table SET files = (SELECT files FROM route_table WHERE hash = '${first}') WHERE hash = '${second}'; ${point(active?.body ?? '')}`,
        /table [0-9a-f]{12} .*altered, or moved/,
      ],
      ['a plain name', point(first), /the name of the active table .*not signed/],
      [
        'another name under the signature',
        point((active?.body ?? '').replace(second, first)),
        /the name of the active table .*altered/,
      ],
      ['the name before', point(old?.body ?? ''), /the name of the active table .*older/],
    ];
    for (const [what, sql, said] of attacks) {
      await write(sql);
      const { table } = await until(async () => {
        const status = await gateway.status();
        return said.test(status.table.error ?? '') && status;
      });
      assert.equal(table.hash, second, what);
      assert.match(gateway.running.stderr(), said, what);
      assert.match(await node.doctor(), said, what);
      await write(
        `UPDATE route_table SET files = '${(good?.files ?? '').replaceAll("'", "''")}' WHERE hash = '${second}'`,
      );
    }
    await gateway.stop();
    gateway = await node.start(SERVE);
    await until(async () => /older/.test((await gateway.status()).table.error ?? ''));
    assert.equal((await gateway.status()).table.hash, second, 'after a restart');
    await write(`UPDATE route_table SET files = (SELECT files FROM route_table WHERE hash = '${second}')`);
    // Only a push by somebody with the key mends that.
    assert.match((await ci.run('table', 'activate', first)).stderr, /^error: table .*altered, or moved/);
    assert.equal(await ci.push(configOf('one')), first);
    await ci.done('table', 'activate', first);
    await until(async () => (await gateway.status()).table.hash === first);
    assert.match(await node.doctor(), /^ok: /);
  });

  it('adds no subscription, changes no job, and no kept request before it is sent again', async (t) => {
    const url = await testDatabase(t);
    const config = configOf('ci');
    const node = makeNode(t, url, config);
    const gateway = await node.start();
    await node.done(
      'webhook',
      'subscribe',
      'one',
      '--prompt',
      'Hi {x}',
      '--secret',
      'a-literal-secret-of-a-subscription',
    );
    await node.done('job', 'create', 'nightly', '--schedule', '0 3 * * *', '--prompt', 'Say good night');
    assert.match(await node.done('webhook', 'test', 'ci', '--payload', '{"x":"first"}'), /202/);
    const list = async () => JSON.parse(await node.done('requests', 'list', '--json')) as { id: string }[];
    const [kept] = await until(async () => (await list()).length > 0 && list());
    const write = await makeWriter(t, url);
    const [before] = await write("SELECT body FROM document WHERE name = 'subscriptions'");
    const own = `{"evil":{"prompt":"x","secret":"a-plain-secret-of-somebody"}}`;
    for (const body of [
      own,
      (before?.body ?? '').replace('"one"', '"evil"'),
      `${(before?.body ?? '').split('\n')[0]}\n${own}`,
    ]) {
      await write(`UPDATE document SET version = version + 1, body = '${body}' WHERE name = 'subscriptions'`);
      await until(async () =>
        (await gateway.status()).store.refused.some((said) => /the subscriptions .*(not signed|altered)/.test(said)),
      );
      const listed = await node.run('webhook', 'list', '--json');
      assert.deepEqual(
        (JSON.parse(listed.stdout) as { name: string }[]).map(({ name }) => name),
        ['one'],
      );
      assert.match(listed.stderr, /the subscriptions in the database: .*last seen/);
      const post = (name: string) => fetch(`${gateway.url}/webhooks/${name}`, { method: 'POST', body: '{}' });
      assert.deepEqual([(await post('evil')).status, (await post('one')).status], [404, 401]);
    }
    assert.match(await node.doctor(), /^failed: the subscriptions in the database/);
    const stranger = makeNode(t, url, config);
    assert.match(
      (await stranger.run('webhook', 'subscribe', 'two', '--prompt', 'x')).stderr,
      /^error: the subscriptions .*\n.*whose gateway still serves them/m,
    );
    await node.done('webhook', 'subscribe', 'two', '--prompt', 'x', '--secret', 'env:HOOK_SECRET');
    await until(async () => (await gateway.status()).store.refused.length === 0);
    assert.equal((JSON.parse(await stranger.done('webhook', 'list', '--json')) as unknown[]).length, 2);

    const jobs = async (from = node) =>
      (JSON.parse(await from.done('job', 'list', '--json')) as { name: string; schedule: string }[]).map(
        ({ name, schedule }) => `${name} ${schedule}`,
      );
    const changed = "UPDATE meta SET value = (value::bigint + 1)::text WHERE key = 'jobs_version'";
    await write(`UPDATE job SET body = replace(replace(body, '0 3', '* *'), 'good night', 'rm'); ${changed}`);
    await write(
      `INSERT INTO job SELECT 'zzzzzz', profile, 'evil', replace(body, 'nightly', 'evil') FROM job; ${changed}`,
    );
    const said = await until(async () =>
      (await gateway.status()).store.refused.find((each) => /jobs in the database.*"evil"/.test(each)),
    );
    assert.match(said, /"nightly" \([a-z0-9]+\)/);
    assert.match(said, /"evil" \(zzzzzz\)/);
    assert.deepEqual(await jobs(), ['nightly 0 3 * * *']);
    await gateway.stop();
    assert.deepEqual(await jobs(), [], 'nobody here has seen the job before');
    assert.match(await node.doctor(), /^failed: jobs in the database: .*"nightly"/);
    await node.done('job', 'create', 'nightly', '--schedule', '0 4 * * *', '--prompt', 'Say good night');
    await node.done('job', 'create', 'evil', '--schedule', '0 5 * * *', '--prompt', 'Say good morning');
    assert.deepEqual((await jobs()).sort(), ['evil 0 5 * * *', 'nightly 0 4 * * *']);
    assert.match(await node.doctor(), /^ok: /);

    const again = await node.start();
    const replay = () => node.run('requests', 'replay', kept?.id ?? '');
    const [request] = await write('SELECT n, head, body FROM request ORDER BY n LIMIT 1');
    for (const change of [
      'body = \'{"x":"other"}\'',
      "head = replace(head, '/webhooks/ci', '/webhooks/two')",
      "head = split_part(head, E'\\n', 2)",
    ]) {
      await write(`UPDATE request SET ${change} WHERE n = ${request?.n}`);
      assert.match(
        (await replay()).stderr,
        /cannot be sent again: request \d+ in the database: (not signed|signed with another key)/,
      );
      await write(`UPDATE request SET head = '${request?.head}', body = '{"x":"first"}' WHERE n = ${request?.n}`);
    }
    assert.match((await replay()).stdout, /202/);
    assert.match((await again.cli('requests', 'show', kept?.id ?? '', '--body')).stdout, /first/);
  });

  it('finds nothing to use after the key was changed, and what is made again is served', async (t) => {
    const url = await testDatabase(t);
    const node = makeNode(t, url, configOf('ci'));
    await node.done(
      'webhook',
      'subscribe',
      'one',
      '--prompt',
      'Hi {x}',
      '--secret',
      'a-literal-secret-of-a-subscription',
    );
    await node.done('job', 'create', 'nightly', '--schedule', '0 3 * * *', '--prompt', 'Say good night');
    node.env.STORE_KEY = OTHER_KEY;
    const gateway = await node.start();
    const { refused } = (await gateway.status()).store;
    assert.match(
      refused.join('\n'),
      /the subscriptions in the database: signed with another key than gateway\.store\.key/,
    );
    assert.match(refused.join('\n'), /the jobs in the database: signed with another key/);
    assert.match(gateway.running.stderr(), /the shared subscriptions cannot be read/);
    await node.done('webhook', 'subscribe', 'two', '--prompt', 'x', '--secret', 'env:HOOK_SECRET');
    await node.done('job', 'create', 'nightly', '--schedule', '0 3 * * *', '--prompt', 'Say good night');
    await until(async () => (await gateway.status()).store.refused.length === 0);
    const other = makeNode(t, url, configOf('ci'), { STORE_KEY: OTHER_KEY });
    assert.match(await other.done('webhook', 'show', 'one', '--reveal'), /a-literal-secret-of-a-subscription/);
    const keyless = makeNode(t, url, configOf('ci', ''));
    assert.match(
      (await keyless.run('webhook', 'remove', 'two')).stderr,
      /other machines sign with gateway\.store\.key/,
    );
    assert.match(
      (await keyless.run('job', 'remove', 'nightly')).stderr,
      /other machines sign with gateway\.store\.key/,
    );
    assert.match(await keyless.doctor(), /^warning: whoever can write/);
    const told = (await keyless.start()).running.stderr().match(/gateway\.store\.key is not set/g);
    assert.equal(told?.length, 1);
  });

  it('puts no table beside those that CI signs, and CI brings an older one back', async (t) => {
    const url = await testDatabase(t);
    const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const keys = 'table_key: env:TABLE_KEY';
    const ci = makeNode(t, url, configOf('x', keys), { TABLE_KEY: publicKey, SIGNING_KEY: privateKey });
    const node = makeNode(t, url, configOf('x', keys), { TABLE_KEY: publicKey });
    const flags = ['--sign-with', 'env:SIGNING_KEY'];
    await assert.rejects(
      ci.push(configOf('one', keys)),
      /signed with the private half of gateway\.store\.table_key[\s\S]*--sign-with/,
    );
    const first = await ci.push(configOf('one', keys), ...flags);
    const second = await ci.push(configOf('two', keys), ...flags);
    await node.done('table', 'activate', second);
    const gateway = await node.start(SERVE);
    assert.equal((await gateway.status()).table.hash, second);
    const write = await makeWriter(t, url);
    await write(`UPDATE document SET version = version + 1, body = '${first}' WHERE name = 'table'`);
    await until(async () => /table [0-9a-f]{12} .*older/.test((await gateway.status()).table.error ?? ''));
    assert.equal((await gateway.status()).table.hash, second);
    assert.match((await node.run('table', 'activate', first)).stderr, /older .*\n.*table push/);
    await ci.done('table', 'activate', first, ...flags);
    await until(async () => (await gateway.status()).table.hash === first);
  });
});
