/** Jobs in a complete gateway with real files, store and HTTP; only the clock is moved forward. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { controlPaths } from '../../../runtime/control/control-client.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import type { TestGateway } from '../../helpers/gateway.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      deploys: { cron_job: report, prompt: "Deployed {sha}.", events: [deploy] }
gateway: { timezone: Europe/Berlin }
agent: { command: [sh, -c, 'until test -e "$HOOKWRIGHT_HOME/go"; do sleep 0.05; done; cat'] }
jobs:
  report: { schedule: "0 8 * * *", prompt: Write the report., deliver: local }
`;

/** Waits until the runs end. */
const letGo = ({ home }: TestGateway): void => writeFileSync(join(home, 'go'), '');

async function runsOf(gateway: TestGateway, job: string): Promise<readonly StoredDispatch[]> {
  const { stdout } = await gateway.cli('deliveries', 'list', '--job', job, '--json');
  return JSON.parse(stdout);
}

async function waitForRun(gateway: TestGateway, job: string, count = 1): Promise<readonly StoredDispatch[]> {
  return until(async () => {
    const runs = await runsOf(gateway, job);
    return runs.length >= count && runs.every(({ state }) => state === 'done') && runs;
  });
}

test('a job created beside a running gateway fires on time, and its answer is delivered', async (t) => {
  let ahead = 0;
  const clock = { ...systemClock, now: () => Date.now() + ahead };
  const putForward = (instant: string): void => {
    ahead = Date.parse(instant) - Date.now();
  };
  putForward('2026-01-05T05:50:00Z');
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG, context: { clock } });
  letGo(gateway);
  const values = ['time=07:00', 'recurrence=everyday', 'what=breathe', 'deliver=local'];
  const made = await gateway.cli('blueprint', 'create', 'custom-reminder', ...values, '--json');
  assert.equal(made.code, 0, made.stderr);
  assert.equal(made.stderr, '', 'a gateway is running, so nothing has to be noted');
  const { id } = JSON.parse(made.stdout);
  putForward('2026-01-05T06:00:00Z');
  const [run] = await waitForRun(gateway, id);
  assert.equal(run?.delivery_id, `${id}@2026-01-05T06:00:00.000Z`);
  const { stdout } = await gateway.cli('deliveries', 'show', run?.id ?? '', '--json');
  assert.match(stdout, /breathe/);
  putForward('2026-01-05T07:00:00Z');
  await waitForRun(gateway, 'report');
  const { stdout: listed } = await gateway.cli('job', 'list', '--json');
  const last = JSON.parse(listed).map((job: Record<string, Record<string, unknown>>) => [
    job.name,
    job.last_run?.state,
  ]);
  assert.deepEqual(last, [
    ['custom-reminder', 'done'],
    ['report', 'done'],
  ]);
});

test('an event fires the job with its prompt as context, a burst fires it once, and a paused job drops it', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const send = (sha: string) =>
    gateway.cli('webhook', 'test', 'deploys', '--payload', JSON.stringify({ event_type: 'deploy', sha }));
  const burst = await Promise.all(['a1', 'b2', 'c3'].map(send));
  for (const { code, stdout } of burst) {
    assert.equal(code, 0);
    assert.match(stdout, /^202 \{"status":"accepted","route":"deploys","event":"deploy",.*"cron_job":"report"/);
  }
  letGo(gateway);
  const [run] = await waitForRun(gateway, 'report');
  const { stdout } = await gateway.cli('deliveries', 'show', run?.id ?? '', '--json');
  assert.match(stdout, /Write the report\.\\n\\nDeployed (?:a1|b2|c3)\./);
  assert.equal((await runsOf(gateway, 'report')).length, 1);
  await gateway.cli('job', 'pause', 'report');
  const dropped = await send('d4');
  assert.match(dropped.stdout, /^200 \{"status":"ignored","reason":"job_paused"/);
  await gateway.cli('job', 'resume', 'report');
  assert.match((await send('e5')).stdout, /^202/);
  await waitForRun(gateway, 'report', 2);
});

test('job run works beside the gateway, even for a paused job', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  letGo(gateway);
  await gateway.cli('job', 'pause', 'report');
  const { stdout } = await gateway.cli('job', 'run', 'report', '--json');
  const [run] = await waitForRun(gateway, 'report');
  assert.equal(run?.id, JSON.parse(stdout).dispatch);
  assert.equal(run?.event, 'manual');
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

function post(socketPath: string, path: string, body: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, method: 'POST' }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
    sent.once('error', reject);
    sent.end(JSON.stringify(body));
  });
}

test('the control socket creates jobs from blueprints, the public server does not', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const { socket } = controlPaths(gateway.home, tmpdir());
  const values = { time: '06:30', deliver: 'local' };
  const made = await post(socket, '/blueprints/morning-brief/jobs', { values });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { id, prompt, ...rest } = made.body;
  assert.match(String(prompt), /morning brief/);
  assert.match(String(id), /^[a-z2-9]{6}$/);
  assert.deepEqual(
    { ...rest, next_runs: [] },
    {
      ...{ name: 'morning-brief', schedule: '30 6 * * *', schedule_human: 'daily at 06:30' },
      ...{ timezone: 'Europe/Berlin', deliver: ['local'], next_runs: [], warnings: [] },
    },
  );
  const { stdout } = await gateway.cli('job', 'list', '--json');
  assert.ok(JSON.parse(stdout).some((job: { id: string }) => job.id === id));
  const open = await fetch(`${gateway.url}/blueprints/morning-brief/jobs`, { method: 'POST', body: '{}' });
  assert.equal(open.status, 404);
});

test('the control socket names the problems and creates nothing', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const { socket } = controlPaths(gateway.home, tmpdir());
  const create = (body: unknown, key = 'morning-brief') => post(socket, `/blueprints/${key}/jobs`, body);
  const values = { time: '06:30', deliver: 'origin' };
  for (const [answer, named] of [
    [await create({ values: { time: '6:30', deliver: 'x' } }), '`6:30`'],
    [await create({ values: { time: '06:30', deliver: 'nowhere' } }), '`nowhere`'],
    [await create({ values }, 'evening-brief'), '"evening-brief"'],
    [await create({}), 'request.values'],
    [await create({ values: { time: 7 } }), 'request.values.time'],
    [await create({ values, timezone: 'Mars/Olympus' }), 'Mars/Olympus'],
    [await create({ values, profile: 'work' }), '"work"'],
    [await create({ values, name: 'report' }), '"report"'],
    [await create({ values, origin: { target: 'messenger_a' } }), 'request.origin'],
  ] as const) {
    assert.equal(answer.status, 400);
    assert.ok(String(answer.body.message).includes(named), String(answer.body.message));
  }
  const { stdout } = await gateway.cli('job', 'list', '--json');
  assert.equal(JSON.parse(stdout).length, 1);
  const asked = await create({ values, origin: { target: 'telegram', chat_id: '-100200', thread_id: '7' } });
  assert.deepEqual(asked.body.deliver, ['telegram']);
});
