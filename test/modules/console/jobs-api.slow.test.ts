/** Jobs in the API of the console: what a job would be, changes, removal and targets; and lists with an end. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestedConsole } from '../../helpers/console.ts';
import { refusalIn, startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      hello: { prompt: "Hello {name}", agent: none }
  telegram: { enabled: true, token: "1:a", home_channel: "5" }
  discord: { enabled: true, token: abc }
gateway: { timezone: Europe/Berlin, console: { port: 0 } }
jobs:
  brief: { schedule: "0 8 * * *", prompt: Brief me. }
`;

const KEY = '/api/blueprints/morning-brief/jobs';
const values = { time: '08:00', deliver: 'local' };
const sent = (body: object): RequestInit => ({
  ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
});

async function refused(console: TestedConsole, path: string, body: object): Promise<readonly [number, string]> {
  const answer = await console.ask(path, sent(body));
  return [answer.status, refusalIn(answer)[1]];
}

describe('jobs in the API of the console', () => {
  it('says what a blueprint would become, and stores nothing', async (t) => {
    const { get, change, ask } = await startConsole(t, CONFIG);
    const asked = { values, timezone: 'America/New_York', dry_run: true };
    const would = await change<'createBlueprintJob'>(KEY, asked);
    assert.deepEqual(
      [would.schedule, would.timezone, would.deliver, would.next_runs.length],
      ['0 8 * * *', 'America/New_York', ['local'], 3],
    );
    assert.deepEqual(
      would.next_runs.map((at) => new Date(at).toLocaleTimeString('en-GB', { timeZone: 'America/New_York' })),
      ['08:00:00', '08:00:00', '08:00:00'],
    );
    assert.equal((await change<'createBlueprintJob'>(KEY, { values, dry_run: true })).timezone, 'Europe/Berlin');
    assert.equal((await get<'listJobs'>('/api/jobs')).items.length, 1);
    assert.equal((await ask(KEY, sent({ values: { time: '25:00', deliver: 'local' }, dry_run: true }))).status, 409);
    assert.equal((await ask(KEY, sent({ ...asked, timezone: 'Mars/Base' }))).status, 409);
  });

  it('changes only the given properties, and first says what the job would become', async (t) => {
    const console = await startConsole(t, CONFIG);
    const { get, change } = console;
    const { id } = await change<'createBlueprintJob'>(KEY, { values });
    const path = `/api/jobs/${id}`;
    const before = await get<'getJob'>(path);
    assert.deepEqual([before.place, before.routes, before.timezone], [null, [], 'Europe/Berlin']);
    assert.match(before.prompt, /morning brief/);

    const would = await change<'editJob'>(`${path}/edit`, { schedule: '30 9 * * 1', dry_run: true });
    assert.deepEqual([would.schedule, would.next_runs.length, would.name], ['30 9 * * 1', 3, 'morning-brief']);
    assert.deepEqual(await get<'getJob'>(path), before);

    await change<'editJob'>(`${path}/edit`, { schedule: '30 9 * * 1', prompt: 'Two words.', deliver: 'telegram' });
    await change<'editJob'>(`${path}/edit`, { name: 'monday', timezone: 'UTC', description: '' });
    const { runs: _, next_runs, ...after } = await get<'getJob'>('/api/jobs/monday');
    assert.deepEqual(
      [after.id, after.name, after.schedule, after.timezone, after.prompt, after.deliver],
      [id, 'monday', '30 9 * * 1', 'UTC', 'Two words.', ['telegram']],
    );
    assert.match(next_runs[0] ?? '', /T09:30:00\.000Z$/);
  });

  it('rejects an invalid change and a job of the configuration, and changes nothing', async (t) => {
    const console = await startConsole(t, CONFIG);
    const { get, change } = console;
    const { id } = await change<'createBlueprintJob'>(KEY, { values });
    const other = await change<'createBlueprintJob'>(KEY, { values, name: 'other' });
    const path = `/api/jobs/${id}`;
    const before = await get<'getJob'>(path);
    const invalid = {
      ...{ schedule: ['61 * * * *'], timezone: ['Europe/Berlni'], deliver: ['telegrm'], prompt: [' ', '\n\t'] },
      // A name means one job: those of the configuration and of the store, and their ids.
      name: ['No Name!', 'brief', 'other', other.id],
    };
    for (const [name, wrong] of Object.entries(invalid))
      for (const value of wrong)
        for (const dry_run of [true, false]) {
          const [status, text] = await refused(console, `${path}/edit`, { [name]: value, dry_run });
          assert.equal(status, 409, text);
          assert.ok(text.includes(value.trim() || name) || name === 'schedule', text);
          if (name !== 'name') continue;
          assert.equal((await refused(console, KEY, { values, name: value, dry_run }))[0], 409, value);
        }
    assert.equal((await change<'editJob'>(`${path}/edit`, { name: 'morning-brief', dry_run: true })).id, id);
    // A chat without a home channel has no address.
    const silent = await change<'editJob'>(`${path}/edit`, { deliver: 'discord', dry_run: true });
    assert.ok(
      silent.warnings.some((text) => text.includes('deliver_extra.chat_id')),
      silent.warnings.join(),
    );
    assert.equal((await refused(console, `${path}/edit`, { prompt: '' }))[0], 400);
    assert.equal((await refused(console, `${path}/edit`, { agent: 'x' }))[0], 400);
    assert.deepEqual(await get<'getJob'>(path), before);

    const { place } = await get<'getJob'>('/api/jobs/brief');
    assert.match(place ?? '', /:\d+$/);
    const [status, text] = await refused(console, '/api/jobs/brief/edit', { prompt: 'x' });
    assert.equal(status, 409);
    assert.ok(text.includes(place ?? '?'), text);
    assert.equal((await refused(console, '/api/jobs/nosuch/edit', { prompt: 'x' }))[0], 404);
    assert.equal((await console.ask('/api/jobs/nosuch')).status, 404);
  });

  it('names the routes that fire a job, and keeps a subscription with a job that gets another name', async (t) => {
    const { get, change, gateway } = await startConsole(t, CONFIG);
    const { id } = await change<'createBlueprintJob'>(KEY, { values, name: 'mine' });
    const made = await gateway.cli('webhook', 'subscribe', 'fires', '--cron-job', 'mine', '--prompt', '{text}');
    assert.equal(made.code, 0, made.stderr);
    // A gateway reads subscriptions when an event arrives.
    const fire = () => gateway.cli('webhook', 'test', 'fires', '--payload', '{"text":"x"}', '--yes');
    assert.match((await fire()).stdout, /^202 /);
    assert.deepEqual((await get<'getJob'>(`/api/jobs/${id}`)).routes, ['fires']);
    await change<'editJob'>(`/api/jobs/${id}/edit`, { name: 'yours' });
    const again = await fire();
    assert.match(again.stdout, new RegExp(`^202 .*"cron_job":"${id}"`), again.stderr);
    assert.deepEqual((await get<'getJob'>('/api/jobs/yours')).routes, ['fires']);
  });

  it('lists the targets that need no address, by profile', async (t) => {
    const home = tempDir(t);
    mkdirSync(join(home, 'profiles/work'), { recursive: true });
    writeFileSync(join(home, 'profiles/work/config.yaml'), 'agent: { command: ["true"], confined: a test }\n');
    const config = CONFIG.replace('gateway: { ', 'gateway: { multiplex_profiles: true, ');
    const { get, ask } = await startConsole(t, config, {}, home);
    const names = async (query: string): Promise<readonly string[]> =>
      (await get<'listTargets'>(`/api/targets${query}`)).items.map(({ name }) => name).sort();
    assert.deepEqual(await names(''), ['local', 'log', 'origin', 'telegram']);
    assert.deepEqual(await names('?profile=work'), ['local', 'log', 'origin']);
    assert.equal((await ask('/api/targets?profile=nosuch')).status, 409);
  });
});

describe('lists with an end', () => {
  it('have the entries before it, page by page', async (t) => {
    const { get, gateway } = await startConsole(t, CONFIG);
    for (const name of ['Ada', 'Bob', 'Cy'])
      await gateway.cli('webhook', 'test', 'hello', '--payload', JSON.stringify({ name }), '--yes');
    await until(async () => (await get<'listDeliveries'>('/api/deliveries?state=done')).items.length === 3);
    await until(async () => (await get<'listRequests'>('/api/requests')).items.length === 3);
    const deliveries = (await get<'listDeliveries'>('/api/deliveries')).items;
    const requests = (await get<'listRequests'>('/api/requests')).items;
    const [last, middle, first] = deliveries.map(({ accepted_at }) => accepted_at);
    const idsOf = async (query: string): Promise<readonly string[]> =>
      (await get<'listDeliveries'>(`/api/deliveries?${query}`)).items.map(({ id }) => id);
    const ids = deliveries.map(({ id }) => id);
    assert.deepEqual(await idsOf(`until=${last}`), ids.slice(1));
    assert.deepEqual(await idsOf(`until=${last}&state=done&route=hello`), ids.slice(1));
    assert.deepEqual(await idsOf(`since=${middle}&until=${last}`), ids.slice(1, 2));
    assert.deepEqual(await idsOf(`until=${first}`), []);
    assert.deepEqual(await idsOf(`since=${last}&until=${first}`), []);
    const page = await get<'listDeliveries'>(`/api/deliveries?until=${last}&limit=1`);
    assert.deepEqual(await idsOf(`until=${last}&limit=1&cursor=${page.next}`), ids.slice(2));
    const before = await get<'listRequests'>(`/api/requests?until=${requests[0]?.at}&limit=1`);
    assert.deepEqual([before.items[0]?.id, before.next === null], [requests[1]?.id, false]);
    const found = await get<'listRequests'>(`/api/requests?until=${requests[0]?.at}&grep=hello`);
    assert.deepEqual(
      found.items.map(({ id }) => id),
      requests.slice(1).map(({ id }) => id),
    );
  });
});
