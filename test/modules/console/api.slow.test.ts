/** The API of the console: lists, pages, details, changes and rejected input. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CHOICES } from '../../../modules/console/runtime/api/built/operations.ts';
import { OUTCOMES } from '../../../runtime/intake/reply.ts';
import { document, refusalIn, startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      hello:
        description: Greets everyone.
        events: [greeting]
        filters:
          - { field: name, not_equals: Eve }
        prompt: "Hello {name}"
      other: { prompt: "{__raw__}" }
gateway: { console: { port: 0 } }
jobs:
  brief: { schedule: "0 8 * * *", prompt: Brief me. }
  diary: { schedule: "0 20 * * *", prompt: What was today? }
`;

const send = async ({ gateway }: Awaited<ReturnType<typeof startConsole>>, name: string): Promise<void> => {
  const payload = JSON.stringify({ name });
  await gateway.cli('webhook', 'test', 'hello', '--payload', payload, '--yes');
};

const POST = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };

describe('the API of the console', () => {
  it('accepts every outcome of the intake as a filter of requests, and no other', () => {
    assert.deepEqual([...CHOICES.outcome].sort(), [...OUTCOMES].sort());
  });

  it('shows requests, deliveries and explanations, by id and page by page', async (t) => {
    const console = await startConsole(t, CONFIG);
    const { get } = console;
    for (const name of ['Ada', 'Bob', 'Eve']) await send(console, name);
    await until(async () => (await get<'listDeliveries'>('/api/deliveries?state=done')).items.length === 2);

    const first = await get<'listDeliveries'>('/api/deliveries?limit=1');
    assert.deepEqual([first.items.length, first.items[0]?.route, first.items[0]?.state], [1, 'hello', 'done']);
    const second = await get<'listDeliveries'>(`/api/deliveries?limit=1&cursor=${first.next}`);
    assert.notEqual(second.items[0]?.id, first.items[0]?.id);
    assert.equal(second.next, null);
    assert.equal(first.items[0]?.targets, 'log');
    const found = async (grep: string) => (await get<'listDeliveries'>(`/api/deliveries?grep=${grep}`)).items.length;
    assert.deepEqual([await found('GREET'), await found('log'), await found('absent')], [2, 2, 0]);
    const one = await get<'getDelivery'>(`/api/deliveries/${first.items[0]?.id}`);
    assert.equal(one.dispatch.prompt, 'Hello Bob');
    assert.equal(one.run.answer, 'Hello Bob');
    assert.deepEqual([one.timeline[0]?.what, one.timeline.at(-1)?.what], ['accepted', 'done']);

    await until(async () => (await get<'listRequests'>('/api/requests')).items.length === 3);
    const { items: ignored } = await get<'listRequests'>('/api/requests?outcome=ignored');
    assert.deepEqual([ignored.length, ignored[0]?.stage, ignored[0]?.reason], [1, 'filter', 'filter']);
    const request = await get<'getRequest'>(`/api/requests/${ignored[0]?.id}`);
    assert.deepEqual(JSON.parse(request.body ?? ''), { name: 'Eve' });
    assert.equal(request.about?.kind, 'filter');
    assert.match(request.next ?? '', new RegExp(`: hookwright explain hello --request ${request.id}$`));
    const { stdout } = await console.gateway.cli('requests', 'show', request.id, '--json');
    assert.equal(JSON.parse(stdout).next, request.next);
    const page = await get<'listRequests'>('/api/requests?limit=2');
    assert.deepEqual((await get<'listRequests'>(`/api/requests?limit=2&cursor=${page.next}`)).items.length, 1);
  });

  it('counts the requests that were not captured', async (t) => {
    const { get, gateway } = await startConsole(
      t,
      `platforms:
  webhook: { enabled: true, routes: { open: { secret: INSECURE_NO_AUTH, prompt: x } } }
gateway: { console: { port: 0 }, capture_per_second: 1 }
`,
    );
    assert.equal((await get<'listRequests'>('/api/requests')).not_kept, 0);
    const sent = Array.from({ length: 20 }, () =>
      fetch(`${gateway.url}/webhooks/open`, { method: 'POST', body: '{}' }),
    );
    await Promise.all(sent);
    const { items, not_kept } = await get<'listRequests'>('/api/requests');
    assert.equal(items.length + not_kept, 20);
    assert.ok(not_kept > 0);
  });

  it('shows the display name of a signature scheme, as explanations do', async (t) => {
    const { get, gateway } = await startConsole(
      t,
      `platforms:
  webhook: { enabled: true, secret: a-literal-secret-for-tests, routes: { review: { source: github, prompt: "{action}" } } }
gateway: { console: { port: 0 } }
`,
    );
    await gateway.cli('webhook', 'test', 'review', '--payload', '{"action":"opened"}', '--yes');
    const [captured] = await until(async () => {
      const { items } = await get<'listRequests'>('/api/requests');
      return items.length === 1 && items;
    });
    assert.equal((await get<'getRequest'>(`/api/requests/${captured?.id}`)).scheme, 'github');
    const { stages } = await get<'explainRequest'>(`/api/requests/${captured?.id}/explanation`);
    assert.equal(stages.find(({ stage }) => stage === 'signature')?.scheme, 'github');
  });

  it('describes each route, and when each job runs', async (t) => {
    const { get } = await startConsole(t, CONFIG);
    const { items: routes } = await get<'listRoutes'>('/api/routes');
    assert.deepEqual(
      routes.map(({ name }) => name),
      ['hello', 'other'],
    );
    assert.deepEqual(routes[0]?.words.slice(0, 3), [
      'Accepts greeting, signed by any known sender.',
      'Only if name is not "Eve".',
      'Sends its prompt to the agent, and the answer to log.',
    ]);
    assert.match(routes[0]?.place ?? '', /^config\.yaml:\d+$/);
    const jobs = await get<'listJobs'>('/api/jobs?limit=1');
    assert.deepEqual([jobs.items[0]?.name, jobs.items[0]?.next_runs.length], ['brief', 5]);
    const rest = await get<'listJobs'>(`/api/jobs?limit=1&cursor=${jobs.next}`);
    assert.deepEqual([rest.items[0]?.name, rest.next], ['diary', null]);
  });

  it('summarizes the current table, pending work and problems', async (t) => {
    const { get, gateway } = await startConsole(t, CONFIG);
    const body = await get<'getOverview'>('/api/overview');
    assert.deepEqual([body.table.routes, body.problems, body.waiting], [2, [], []]);
    assert.equal(body.config, `${gateway.home}/config.yaml`);
  });

  it('rejects an invalid cursor, an unknown parameter and a value out of range, and names it', async (t) => {
    const { ask } = await startConsole(t, CONFIG);
    for (const [path, message] of [
      ['/api/deliveries?cursor=x', /^cursor\b/],
      ['/api/requests?cursor=0', /^cursor\b/],
      ['/api/routes?cursor=eyJ9', /^cursor\b/],
      ['/api/jobs?cursor=WzFd', /^cursor\b/],
      ['/api/deliveries?limit=0', /^limit\b.*\b1$/],
      ['/api/deliveries?limit=1000', /^limit\b.*\b200$/],
      ['/api/deliveries?state=lost', /^state\b.* pending, running, delivering, waiting, done, dead, skipped$/],
      ['/api/requests?outcome=ignord', /^outcome\b.* accepted, .*ignored, /],
      ['/api/requests?reason=filtr', /^reason\b.* filter, /],
      ['/api/deliveries?stat=dead', /\bstat\b/],
      ['/api/deliveries?state=dead&state=done', /^/],
    ] as const) {
      const refused = await ask(path);
      const [code, text] = refusalIn(refused);
      assert.deepEqual([refused.status, code], [400, 'bad_input'], path);
      assert.match(text, message);
    }
    assert.equal((await ask('/api/deliveries/zzz')).status, 404);
    assert.equal((await ask('/api/requests/zzz')).status, 404);
    assert.equal((await ask('/api/nothing')).status, 404);
    assert.equal((await ask('/api/jobs', { method: 'DELETE' })).status, 405);
  });

  it('responds with 404 for an unknown profile, route or job instead of an empty list', async (t) => {
    const console = await startConsole(t, CONFIG);
    const { ask, change, gateway } = console;
    const unknown = async (asked: ReturnType<typeof ask>, names: RegExp, what: string): Promise<void> => {
      const refused = await asked;
      const [code, text] = refusalIn(refused);
      assert.deepEqual([refused.status, code], [404, 'not_found'], what);
      assert.match(text, names, what);
    };
    for (const path of ['requests', 'deliveries', 'usage', 'approvals']) {
      await unknown(ask(`/api/${path}?route=helo`), /"helo".*\bhello\b/, path);
      assert.equal((await ask(`/api/${path}?route=hello`)).status, 200, path);
    }
    for (const path of ['requests', 'routes', 'jobs', 'sessions']) {
      await unknown(ask(`/api/${path}?profile=defualt`), /"defualt".*\bdefault\b/, path);
      assert.equal((await ask(`/api/${path}?profile=default`)).status, 200, path);
    }
    for (const change of ['test', 'pause', 'resume'])
      await unknown(ask(`/api/routes/helo/${change}`, { ...POST, body: '{}' }), /"helo"/, change);
    const replayed = (body: object) => ask('/api/deliveries/replay', { ...POST, body: JSON.stringify(body) });
    await unknown(replayed({ state: 'dead', route: 'helo' }), /"helo".*\bhello\b/, 'replay');
    await unknown(ask('/api/deliveries?job=breif'), /"breif"/, 'deliveries');
    await unknown(replayed({ state: 'dead', job: 'breif' }), /"breif"/, 'replay');
    await change('/api/jobs/brief/run');
    assert.equal((await ask('/api/deliveries?job=brief')).status, 200);
    // Stored entries of a deleted route can still be listed.
    await send(console, 'Ada');
    writeFileSync(join(gateway.home, 'config.yaml'), CONFIG.replace('      hello:', '      hallo:'));
    assert.equal((await gateway.cli('gateway', 'reload')).code, 0);
    assert.equal((await console.get<'listDeliveries'>('/api/deliveries?route=hello')).items.length, 1);
  });

  it('does not coerce values of a body, and ignores the prototype', async (t) => {
    const { ask } = await startConsole(t, CONFIG);
    const post = (path: string, body: object) => ask(path, { ...POST, body: JSON.stringify(body) });
    for (const [path, body, message] of [
      ['/api/approvals/a', { approve: null }, /^approve\b/],
      ['/api/approvals/a', { approve: 1 }, /^approve\b/],
      ['/api/approvals/a', { approve: 'false' }, /^approve\b/],
      ['/api/routes/hello/pause', { seconds: '3' }, /^seconds\b/],
      ['/api/routes/hello/pause', { name: 'other' }, /\bname\b/],
      ['/api/routes/hello/pause?name=other', {}, /^name\b/],
      ['/api/routes/hello/pause?seconds=5', {}, /\bseconds\b/],
      ['/api/deliveries/replay', { ids: [1] }, /^ids\/0\b/],
      ['/api/deliveries/replay', { ids: ['a'], state: 'dead' }, /\bids\b/],
    ] as const) {
      const refused = await post(path, body);
      const [code, text] = refusalIn(refused);
      assert.deepEqual([refused.status, code], [400, 'bad_input'], `${path} ${text}`);
      assert.match(text, message);
    }
  });

  it('prints a request to a route with a script as a passing test with a stubbed script', async (t) => {
    const home = tempDir(t);
    mkdirSync(join(home, 'scripts'));
    const code = '#!/bin/sh\ngrep -q Eve || echo "{\\"name\\": \\"$HOOKWRIGHT_EVENT\\"}"\n';
    writeFileSync(join(home, 'scripts/choose.sh'), code, { mode: 0o700 });
    const config = CONFIG.replace(
      '        prompt: "Hello',
      '        script: choose.sh\n        prompt: "Hello',
    ).replace('{ field: name, not_equals: Eve }', '{ field: name, exists: true }');
    const console = await startConsole(t, config, {}, home);
    const { get, gateway } = console;
    for (const name of ['Ada', 'Eve']) await send(console, name);
    const { items } = await get<'listRequests'>('/api/requests');
    assert.deepEqual(items.map(({ outcome, reason }) => reason ?? outcome).sort(), ['accepted', 'script']);
    for (const { id } of items) {
      const { text } = await get<'printRequest'>(`/api/requests/${id}/print?form=test`);
      assert.match(text, /^# /);
      writeFileSync(join(home, `${id}.test.yaml`), `config: config.yaml\n${text}`);
      const { code, stdout } = await gateway.cli('test', join(home, `${id}.test.yaml`));
      assert.equal(code, 0, stdout);
    }
  });

  it('explains a captured request, and prints it as a command and as a test', async (t) => {
    const console = await startConsole(t, CONFIG);
    const { get, gateway, change } = console;
    await send(console, 'Eve');
    const [captured] = await until(async () => {
      const { items } = await get<'listRequests'>('/api/requests');
      return items.length === 1 && items;
    });
    const explained = await get<'explainRequest'>(`/api/requests/${captured?.id}/explanation`);
    assert.deepEqual([explained.taken, explained.reason, explained.filter?.holds], [false, 'filter', false]);
    const curl = await get<'printRequest'>(`/api/requests/${captured?.id}/print`);
    assert.match(curl.text, new RegExp(`^curl -X POST '${gateway.url}/webhooks/hello' `));
    const test = await get<'printRequest'>(`/api/requests/${captured?.id}/print?form=test`);
    assert.match(test.text, /^tests:\n {2}- name: greeting /);
    const again = await change<'replayRequest'>(`/api/requests/${captured?.id}/replay`);
    assert.deepEqual([again.status, again.outcome], [200, 'ignored']);
  });

  it('sends test events, pauses and resumes routes and jobs, and runs a job', async (t) => {
    const { get, change, ask } = await startConsole(t, CONFIG);
    const sent = await change<'testRoute'>('/api/routes/hello/test', { payload: '{"name":"Ada"}' });
    assert.deepEqual([sent.status, sent.event], [202, 'greeting']);
    const [tested] = (await get<'listDeliveries'>('/api/deliveries?route=hello')).items;
    const { timeline: history } = await get<'getDelivery'>(`/api/deliveries/${tested?.id}`);
    assert.equal(history[0]?.what, 'accepted, by console');
    assert.equal((await change<'testRoute'>('/api/routes/other/test', {})).status, 202);
    assert.equal((await ask('/api/routes/none/test', POST)).status, 404);

    const { until: end } = await change<'pauseRoute'>('/api/routes/hello/pause', { seconds: 3600 });
    assert.ok(end !== null && end > Date.now());
    const paused = async () => (await get<'listRoutes'>('/api/routes')).items[0]?.paused?.until ?? null;
    assert.equal(await paused(), end);
    assert.deepEqual((await get<'getOverview'>('/api/overview')).paused[0]?.route, 'hello');
    await change<'resumeRoute'>('/api/routes/hello/resume', {});
    assert.equal(await paused(), null);
    assert.equal((await ask('/api/routes/none/pause', POST)).status, 404);

    const jobs = async () => (await get<'listJobs'>('/api/jobs')).items[0];
    const id = (await jobs())?.id ?? '';
    await change<'pauseJob'>(`/api/jobs/${id}/pause`, {});
    assert.deepEqual([(await jobs())?.state, (await jobs())?.next_runs], ['paused', []]);
    await change<'resumeJob'>(`/api/jobs/${id}/resume`);
    assert.equal((await jobs())?.paused, false);
    const { last_action: resumed } = (await jobs()) ?? {};
    assert.equal(resumed?.did, 'resumed');
    assert.deepEqual(await change<'resumeJob'>(`/api/jobs/${id}/resume`), { paused: false, until: null });
    assert.deepEqual((await jobs())?.last_action, resumed);
    const { dispatch } = await change<'runJob'>(`/api/jobs/${id}/run`);
    const run = await until(async () => {
      const found = await get<'getRun'>(`/api/runs/${dispatch}`);
      return found.state === 'done' && found;
    });
    assert.deepEqual([run.job, run.prompt, run.latest.answer], [id, 'Brief me.', 'Brief me.']);
  });

  it('does not change a job by a prefix of its id, or by an empty one', async (t) => {
    const { get, ask } = await startConsole(t, CONFIG);
    for (const id of ['none', 'brie']) {
      for (const what of ['run', 'pause', 'resume'])
        assert.equal((await ask(`/api/jobs/${id}/${what}`, POST)).status, 404, `${what} ${id}`);
    }
    const { items } = await get<'listJobs'>('/api/jobs');
    assert.deepEqual(
      items.map(({ state, runs }) => [state, runs.length]),
      [
        ['active', 0],
        ['active', 0],
      ],
    );
  });

  it('replays deliveries by id and by state, and reports why one was rejected', async (t) => {
    const console = await startConsole(t, CONFIG);
    const { get, change, ask } = console;
    await send(console, 'Ada');
    const [one] = await until(async () => {
      const { items } = await get<'listDeliveries'>('/api/deliveries?state=done');
      return items.length === 1 && items;
    });
    const byId = await change<'replayDeliveries'>('/api/deliveries/replay', {
      ids: [one?.id, one?.id.slice(0, -1), 'unknown', one?.id],
    });
    assert.deepEqual([byId.done[0]?.replay_of, byId.done.length], [one?.id, 1]);
    assert.deepEqual(
      byId.refused.map(({ id }) => id),
      ['unknown'],
    );
    await until(async () => (await get<'listDeliveries'>('/api/deliveries?state=done')).items.length === 2);
    const all = await change<'replayDeliveries'>('/api/deliveries/replay', { state: 'done', limit: 1 });
    assert.equal(all.done.length, 1);
    assert.equal((await ask('/api/deliveries/replay', POST)).status, 409);
  });

  it('creates a job from a blueprint, and names an invalid field', async (t) => {
    const { get, change, ask } = await startConsole(t, CONFIG);
    const { items } = await get<'listBlueprints'>('/api/blueprints');
    const blueprint = items[0];
    const values = Object.fromEntries((blueprint?.fields ?? []).map((field) => [field.name, field.default ?? 'x']));
    const made = await change<'createBlueprintJob'>(`/api/blueprints/${blueprint?.key}/jobs`, { values, name: 'mine' });
    assert.equal(made.name, 'mine');
    const names = (await get<'listJobs'>('/api/jobs')).items.map(({ name }) => name);
    assert.ok(names.includes('mine'));
    const refused = await ask(`/api/blueprints/${blueprint?.key}/jobs`, { ...POST, body: '{"values":{"no":"x"}}' });
    assert.equal(refused.status, 409);
  });

  it('lists usage, nodes, sessions and approvals', async (t) => {
    const { get, gateway } = await startConsole(t, CONFIG);
    assert.deepEqual(await get<'listUsage'>('/api/usage'), { items: [], next: null });
    assert.deepEqual(await get<'listApprovals'>('/api/approvals'), { items: [], next: null });
    await gateway.cli('session', 'open', 'log', '42');
    await get<'listSessions'>('/api/sessions');
    const { items } = await get<'listNodes'>('/api/nodes');
    assert.deepEqual([items.length, items[0]?.url, items[0]?.state], [1, gateway.url, 'serving']);
  });

  it('serves the OpenAPI document that validates its responses', async (t) => {
    const { url } = await startConsole(t, CONFIG);
    assert.deepEqual(await (await fetch(`${url}/api/openapi.json`)).json(), document);
    assert.equal(document.openapi, '3.1.0');
  });
});
