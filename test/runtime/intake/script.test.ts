/** Tests scripts as real processes, through the whole pipeline (§2.6). */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { lowerTemplate } from '../../../compiler/lower/template.ts';
import type { Served } from '../../helpers/serve.ts';
import { serve } from '../../helpers/serve.ts';

const PROMPT = lowerTemplate('{action}|{script_output}|{payload}').plan ?? [];

type Script = (
  body: unknown,
  headers?: Record<string, string>,
) => Promise<{ answer: Record<string, unknown>; prompt: string | undefined; served: Served }>;

/** A route with a bash (or Python) script. */
async function withScript(t: TestContext, text: string, { file = 'run.sh', timeout = 60 } = {}): Promise<Script> {
  const script = {
    path: file,
    interpreter: file.endsWith('.sh') ? 'bash' : 'python',
    timeout_seconds: timeout,
  } as const;
  const served = await serve(t, { routes: { ci: { script, prompt: PROMPT } } });
  mkdirSync(join(served.home, 'scripts'), { recursive: true });
  writeFileSync(join(served.home, 'scripts', file), text);
  return async (body, headers) => {
    const answer = await served.post('/webhooks/ci', body, headers);
    return { answer: answer.body, prompt: served.dispatcher.handed.at(-1)?.dispatch.prompt, served };
  };
}

const outcomes: readonly (readonly [name: string, script: string, prompt: string | null])[] = [
  ['a JSON object replaces the payload', 'echo \'{"action":"new"}\'', 'new|{script_output}|{payload}'],
  ['text is added as script_output', 'printf "  some text\\n\\n"', 'old|some text|{payload}'],
  ['a JSON list is text', 'echo "[1]"', 'old|[1]|{payload}'],
  ['a JSON string is text', 'echo \'"quoted"\'', 'old|"quoted"|{payload}'],
  [
    'an ignore key that is not a boolean is part of the payload',
    'echo \'{"__hookwright_ignore__":"true","action":"x"}\'',
    'x|{script_output}|{payload}',
  ],
  ['stdin that is not read is fine', 'exec <&-; echo text', 'old|text|{payload}'],
  ['empty output ignores the event', 'cat >/dev/null', null],
  ['blank output ignores the event', 'echo "   "', null],
  ['[SILENT] ignores the event', 'echo "[SILENT]"', null],
  ['the ignore key ignores the event', 'echo \'{"__hookwright_ignore__":true}\'', null],
  ['a nonzero exit ignores the event', 'echo \'{"action":"x"}\'; exit 3', null],
  ['a death by signal ignores the event', 'echo x; kill -9 $$', null],
  ['output without end ignores the event', 'yes', null],
];

for (const [name, script, prompt] of outcomes) {
  test(name, async (t) => {
    const run = await withScript(t, script);
    const { answer, prompt: rendered } = await run({ action: 'old' }, { 'x-github-event': 'push' });
    if (prompt === null) assert.deepEqual(answer, { status: 'ignored', reason: 'script', route: 'ci', event: 'push' });
    else assert.equal(rendered, prompt);
  });
}

test('receives the payload on stdin as JSON, also in Python', async (t) => {
  const run = await withScript(
    t,
    'import json,sys\nd=json.load(sys.stdin)\nd["action"]=d["action"].upper()\nprint(json.dumps(d))',
    { file: 'up.py' },
  );
  assert.equal((await run({ action: 'grüße' })).prompt, 'GRÜSSE|{script_output}|{payload}');
});

test('a root that is not an object is wrapped as payload', async (t) => {
  const run = await withScript(t, 'echo text');
  assert.equal((await run([1, 2])).prompt, '{action}|text|[1,2]');
});

test("the environment is minimal, and the working directory is the script's own folder", async (t) => {
  process.env.HOOKWRIGHT_TEST_SECRET = 'leak';
  t.after(() => delete process.env.HOOKWRIGHT_TEST_SECRET);
  const run = await withScript(
    t,
    'echo "$(pwd -P) $(env | cut -d= -f1 | sort | tr "\\n" " ") $HOOKWRIGHT_ROUTE $HOOKWRIGHT_EVENT $HOOKWRIGHT_DELIVERY_ID $HOOKWRIGHT_PROFILE"',
  );
  const { prompt, served } = await run({}, { 'x-github-event': 'push; rm -rf /', 'x-github-delivery': '$(id)' });
  const [, output = ''] = (prompt ?? '').split('|');
  assert(output.startsWith(`${join(served.home, 'scripts')} `), output);
  assert(output.endsWith(' ci push; rm -rf / $(id) default'), output);
  const names = output.split(' ').filter((word) => /^[A-Z_]+$/.test(word));
  const allowed = [
    'HOME',
    'HOOKWRIGHT_DELIVERY_ID',
    'HOOKWRIGHT_EVENT',
    'HOOKWRIGHT_HOME',
    'HOOKWRIGHT_PROFILE',
    'HOOKWRIGHT_ROUTE',
    'HOOKWRIGHT_RUN',
    'LANG',
    'PATH',
    'PWD',
    'OLDPWD',
    'SHLVL',
    'TZ',
    '_',
  ];
  assert.deepEqual(
    names.filter((name) => !allowed.includes(name)),
    [],
  );
});

test('a missing script ignores the event and is logged', async (t) => {
  const run = await withScript(t, '');
  rmSync(join((await run({})).served.home, 'scripts', 'run.sh'));
  const { answer, served } = await run({});
  assert.equal(answer.reason, 'script');
  assert.ok(served.log.lines.some(({ level }) => level === 'warn' || level === 'error'));
});

test('a link out of the scripts folder is rejected at run time, one inside it is followed', async (t) => {
  const run = await withScript(t, 'echo inside');
  const { served } = await run({});
  const script = join(served.home, 'scripts', 'run.sh');
  writeFileSync(join(served.home, 'outside.sh'), `touch ${join(served.home, 'ran')}; echo outside`);
  rmSync(script);
  symlinkSync('../outside.sh', script);
  assert.equal((await run({})).answer.reason, 'script');
  rmSync(script);
  writeFileSync(join(served.home, 'scripts', 'real.sh'), 'echo linked');
  symlinkSync('real.sh', script);
  assert.equal((await run({})).prompt, '{action}|linked|{payload}');
});

test('a folder linked out of the scripts folder is rejected too', async (t) => {
  const run = await withScript(t, 'echo x', { file: 'run.sh' });
  const { served } = await run({});
  mkdirSync(join(served.home, 'elsewhere'));
  writeFileSync(join(served.home, 'elsewhere', 'run.sh'), 'echo elsewhere');
  rmSync(join(served.home, 'scripts'), { recursive: true });
  mkdirSync(join(served.home, 'scripts'));
  symlinkSync('../elsewhere/run.sh', join(served.home, 'scripts', 'run.sh'));
  assert.equal((await run({})).answer.reason, 'script');
});

test('a script that forks and hangs is killed with its whole group', async (t) => {
  const hang = 'while [ ! -e "$HOOKWRIGHT_HOME/asked" ]; do sleep 0.05; done; echo late >> "$HOOKWRIGHT_HOME/late"';
  const run = await withScript(t, `for i in 1 2 3; do (${hang}) & done; wait`, { timeout: 0.3 });
  const { answer, served } = await run({});
  assert.equal(answer.reason, 'script');
  writeFileSync(join(served.home, 'asked'), '');
  await sleep(250);
  assert.equal(served.gateway.status().state, 'serving');
  assert.throws(() => rmSync(join(served.home, 'late')), { code: 'ENOENT' });
});

test('a known duplicate does not run its script again', async (t) => {
  const run = await withScript(t, 'echo ran >> "$HOOKWRIGHT_HOME/ran"; wc -l < "$HOOKWRIGHT_HOME/ran"');
  const id = { 'x-github-delivery': 'one' };
  assert.equal((await run({}, id)).prompt, '{action}|1|{payload}');
  assert.equal((await run({}, id)).answer.status, 'duplicate');
  assert.equal((await run({}, { 'x-github-delivery': 'two' })).prompt, '{action}|2|{payload}');
});
