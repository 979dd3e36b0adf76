import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { commandsOf } from '../../cli/commands.ts';
import { MODULES } from '../../main/modules.ts';
import { atEnd } from '../helpers/at-end.ts';
import { until } from '../helpers/gateway.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { installPacked } from '../helpers/packed.ts';
import { ROOT } from '../helpers/root.ts';
import { checkBlocks, hasCommands, runBlocks, runInShell, userEnvironment } from '../helpers/run-document.ts';
import { sendAgain } from '../helpers/send-again.ts';
import { splitShellWords } from '../helpers/shell-words.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { STORIES } from './stories/index.ts';
import { commandOf, stepsWithProcess } from './stories/own-process.ts';
import { runHere } from './stories/packed-program.ts';
import { tellStory } from './stories/tell-story.ts';

/** Documents that other tests run: they are generated, or need fake services or a database. */
const RUN_ELSEWHERE = ['docs/rules.md', 'docs/tutorial.md', 'docs/scale.md'];
/** They succeed only with a database, a sandbox, something that waits for a person, or after a loop, replace the store, or are driven below: test/docs/scale.slow.test.ts, test/modules/rescue, test/modules/cluster/cli/tables, test/modules/guard, test/modules/outputs, test/modules/sandbox, test/cli/deliveries. */
const DRIVEN_ELSEWHERE = [
  'gateway loops release',
  'approvals show',
  'approvals approve',
  'approvals reject',
  'approvals undo',
  'session reset',
  'sandbox try',
  'store backup',
  'store restore',
  'store new',
  'store migrate',
  'store move',
  'outputs serve',
];
const documents = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
  ...readdirSync(join(ROOT, 'examples')).map((name) => `examples/${name}/README.md`),
].filter((path) => path.endsWith('.md'));

/** With `npm run test:long -- e2e/packed`, every step of a story and every command of a document starts a process. */
const IS_LONG = process.env.HOOKWRIGHT_LONG_TESTS === '1';
const WITH_PROCESS = stepsWithProcess(STORIES, IS_LONG);
/** A hookwright command without shell syntax outside quotation marks. */
const PLAIN = /^hookwright ((?:[^|<>$`;&()*~'"]|'[^']*'|"[^"$`\\]*")*)$/;

const SECRET = 'e2e-secret-that-is-long-enough';
const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      ci:
        events: [push]
        prompt: "Built {ref}"
agent:
  command: [cat]
`;

describe('the packed package, installed in an empty folder', { concurrency: 4 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookwright-e2e-'));
  let program = '';
  before(async () => {
    program = await installPacked(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('contains what it needs and no development files', () => {
    const installed = join(folder, 'node_modules/hookwright');
    assert.deepEqual(readdirSync(installed).sort(), [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'docs',
      'examples',
      'package.json',
    ]);
    assert.deepEqual(readdirSync(join(installed, 'dist')).sort(), [
      'base',
      'catalog',
      'cli',
      'compiler',
      'console',
      'main',
      'modules',
      'runtime',
      'schemas',
    ]);
    assert.ok(!existsSync(join(installed, 'examples/quickstart/build')), 'no built tables');
  });

  test('a thread of the store does not load the compiler, which would take 10 MB of memory', () => {
    const files = new Set([join(folder, 'node_modules/hookwright/dist/cli/parts/store-thread.js')]);
    for (const file of files) {
      const text = readFileSync(file, 'utf8');
      // The bundler names the source of each part.
      assert.doesNotMatch(text, /^\/\/ compiler\//m, file);
      for (const [, path = ''] of text.matchAll(/(?:from|import) "(\.[^"]+)";/g)) files.add(join(dirname(file), path));
    }
    assert.ok(files.size > 5);
  });

  test('its compiler and runtime can be imported, types by types', () => {
    const code =
      "const c = await import('hookwright/compiler'); const r = await import('hookwright/runtime');" +
      "await import('hookwright/schemas/config.schema.json', { with: { type: 'json' } });" +
      'console.log(typeof c.compileText, typeof r.createService)';
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd: folder, encoding: 'utf8' });
    assert.equal(run.stdout, 'function function\n', run.stderr);
  });

  test('compiles, serves a signed event, answers /health and stops on a signal', async (t) => {
    const dir = tempDir(t);
    const env = { ...userEnvironment(dir, program), WEBHOOK_SECRET: SECRET };
    writeFileSync(join(dir, 'hookwright.yaml'), CONFIG);
    const compiled = spawnSync('hookwright', ['compile'], { cwd: dir, env, encoding: 'utf8' });
    assert.equal(compiled.status, 0, compiled.stderr);

    const server = spawn('hookwright', ['serve', '--port', '0'], {
      cwd: dir,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    atEnd(t, () => server.kill('SIGKILL'));
    let log = '';
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const url = await until(async () => /"url":"([^"]+)"/.exec(log)?.[1]);

    const health = await fetch(`${url}/health`);
    assert.equal(await health.text(), '{"status":"ok","platform":"webhook"}');
    const body = '{"ref":"refs/heads/main"}';
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': 'd-1',
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    };
    const post = async () => {
      const response = await sendAgain(`${url}/webhooks/ci`, { method: 'POST', headers, body });
      return [response.status, await response.json()];
    };
    assert.deepEqual(await post(), [202, { status: 'accepted', route: 'ci', event: 'push', delivery_id: 'd-1' }]);
    assert.deepEqual(await post(), [200, { status: 'duplicate', route: 'ci', delivery_id: 'd-1' }]);
    await until(async () => log.includes('"text":"Built refs/heads/main"'));
    server.kill('SIGTERM');
    const [code] = await new Promise<[number | null]>((resolve) => server.once('exit', (status) => resolve([status])));
    assert.equal(code, 0, log);
  });

  for (const story of STORIES) {
    test(story.about, (t) => tellStory(t, story, program, WITH_PROCESS));
  }

  for (const path of documents) {
    test(`${path}: every command prints the documented output, or has a reason not to run`, async (t) => {
      if (RUN_ELSEWHERE.includes(path)) return;
      const blocks = codeBlocks(readFileSync(join(ROOT, path), 'utf8'));
      checkBlocks(blocks);
      if (!hasCommands(blocks)) return;
      const dir = tempDir(t);
      const env = userEnvironment(dir, program);
      mkdirSync(join(dir, 'home'), { mode: 0o700 });
      atEnd(t, () => existsSync(join(dir, 'home/run')) && runHere(program, ['gateway', 'stop'], { cwd: dir, env }));
      await runBlocks(blocks, dir, env, async (line) => {
        const words = IS_LONG ? null : splitShellWords(PLAIN.exec(line)?.[1] ?? '');
        return words === null || words.length === 0
          ? runInShell(line, dir, env)
          : (await runHere(program, words, { cwd: dir, env })).shown;
      });
    });
  }
});

test('a story runs every command', () => {
  const steps = STORIES.flatMap((story) => story.steps);
  const driven = steps.filter(({ code = 0, terminal }) => code === 0 && terminal === undefined);
  const paths = [...driven.map((step) => commandOf(step)?.path), ...DRIVEN_ELSEWHERE];
  assert.deepEqual(
    commandsOf(MODULES)
      .map(({ path }) => path)
      .filter((path) => !paths.includes(path)),
    [],
  );
});

for (const path of documents) {
  test(`${path}: every link to a file resolves`, () => {
    const text = readFileSync(join(ROOT, path), 'utf8').replace(/^ *```[\s\S]*?^ *```/gm, '');
    for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      assert.ok(existsSync(join(ROOT, dirname(path), target)), `${target} does not exist`);
    }
  });
}
