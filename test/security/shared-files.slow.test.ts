/** Tests files that others may write: a file that is not a regular file gives a clear error immediately and stops nothing. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { MAX_FILE_BYTES, readRegularFile, readRegularFileSync, UnreadableFile } from '../../base/files.ts';
import { lowerTemplate } from '../../compiler/lower/template.ts';
import { nodeFiles as compilerFiles } from '../../compiler/node/node-files.ts';
import { createMirror, fileSessions, openSession } from '../../runtime/deliver/sessions.ts';
import { loadSkills } from '../../runtime/dispatch/agents/create-agents.ts';
import { gatewayFiles } from '../../runtime/platform/files.ts';
import { runInProcess } from '../helpers/cli.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { startGateway } from '../helpers/gateway.ts';
import { recordLog } from '../helpers/log.ts';
import { prepareGateway, serve } from '../helpers/serve.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const POSIX = { skip: process.platform === 'win32' };

type Make = (path: string) => void;

const fifo: Make = (path) => void execFileSync('mkfifo', [path]);
const huge: Make = (path) => {
  writeFileSync(path, '');
  truncateSync(path, MAX_FILE_BYTES + 1);
};

/** Replaces a file like `mv`. */
function replace(path: string, make: Make): void {
  make(`${path}.odd`);
  renameSync(`${path}.odd`, path);
}

const ODD: readonly (readonly [what: string, make: Make, code: string])[] = [
  ['a FIFO', fifo, 'ENOTREG'],
  ['an endless device', (path) => symlinkSync('/dev/zero', path), 'ENOTREG'],
  ['a folder', (path) => void mkdirSync(path), 'EISDIR'],
  ['a huge file', huge, 'EFBIG'],
  ['a link to nothing', (path) => symlinkSync('/nowhere/at-all', path), 'ENOENT'],
  ['a link to itself', (path) => symlinkSync(path, path), 'ELOOP'],
];

describe('reading a file that others may write', POSIX, () => {
  for (const [what, make, code] of ODD) {
    it(`rejects ${what} immediately`, async (t) => {
      const path = join(tempDir(t), 'file');
      make(path);
      await assert.rejects(readRegularFile(path), { code });
      assert.throws(() => readRegularFileSync(path), { code });
    });
  }

  it('reads a file of any size up to the limit, also one that claims to be empty', async (t) => {
    const path = join(tempDir(t), 'file');
    for (const size of [0, 1, 65_535, 65_536, 65_537, 200_000]) {
      const bytes = Buffer.alloc(size, 'ab');
      writeFileSync(path, bytes);
      assert.ok((await readRegularFile(path, size)).equals(bytes), String(size));
      assert.ok(readRegularFileSync(path, size).equals(bytes), String(size));
      if (size > 0) await assert.rejects(readRegularFile(path, size - 1), UnreadableFile);
    }
    if (process.platform === 'linux') {
      // Its size is 0, and it has more than one piece.
      assert.ok((await readRegularFile('/proc/self/maps')).length > 0);
      await assert.rejects(readRegularFile('/proc/self/maps', 100), { code: 'EFBIG' });
      assert.throws(() => readRegularFileSync('/proc/self/maps', 100), { code: 'EFBIG' });
    }
  });

  it('is rejected by the compiler too, which checks first and reads later', async (t) => {
    const path = join(tempDir(t), 'file');
    fifo(path);
    assert.throws(() => compilerFiles.read(path), { code: 'ENOTREG' });
  });
});

const filtered = (list: string) => ({
  kind: 'leaf' as const,
  operator: 'in_file' as const,
  field: { in: 'payload' as const, path: ['user'] },
  value: list,
});
const prompt = lowerTemplate('{user}').plan ?? [];

describe('a gateway continues serving', POSIX, () => {
  for (const [what, make] of ODD) {
    it(`beside ${what} as an in_file list`, async (t) => {
      const { post, home, log, url } = await serve(t, { routes: { ci: { prompt, filters: filtered('users.txt') } } });
      const list = join(home, 'users.txt');
      writeFileSync(list, 'ann\n');
      assert.equal((await post('/webhooks/ci', { user: 'ann' })).status, 202);
      replaceAny(list, make);
      await new Promise((resolve) => setTimeout(resolve, 10));
      const { body } = await post('/webhooks/ci', { user: 'bob' });
      assert.equal(body.reason, 'filter');
      assert.equal((await fetch(`${url}/health`)).status, 200);
      assert.ok(log.lines.some(({ level, fields }) => level === 'warn' && fields.file === list));
    });

    it(`beside ${what} as the file of subscriptions`, async (t) => {
      const { post, home, gateway } = await serve(t, { routes: { ci: { prompt } } });
      replaceAny(join(home, 'webhook_subscriptions.json'), make);
      assert.equal((await post('/webhooks/ci', {})).status, 202);
      assert.equal((await post('/webhooks/none', {})).status, 404);
      assert.equal(gateway.status().state, 'serving');
    });
  }

  for (const kind of ['secret', 'skill', 'session', 'table', 'catalog'] as const) {
    it(`and reading at once, with a FIFO as ${kind}`, async (t) => CASES[kind]?.(t));
  }

  it('with a FIFO as the variables of another profile, a secret, a list and a skill', async (t) => {
    const home = tempDir(t);
    for (const folder of ['skills/tone', 'catalog/sources']) mkdirSync(join(home, folder), { recursive: true });
    fifo(join(home, 'skills/tone/SKILL.md'));
    fifo(join(home, 'users.txt'));
    fifo(join(home, 'odd.key'));
    const config = (secret: string): string => `platforms:
  webhook:
    enabled: true
    secret: ${secret}
    routes:
      ci: { prompt: "{user}", skills: [tone], filters: { field: user, in_file: users.txt } }
      plain: { prompt: "{user}" }
agent: { command: [cat] }
`;
    const gateway = await startGateway(t, { home, config: config('0123456789abcdef-a-key') });
    const sent = await gateway.cli('webhook', 'test', 'plain', '--payload', '{"user":"x"}');
    assert.equal(sent.code, 0, sent.stderr);
    assert.equal((await gateway.stop()).code, 0);
    writeFileSync(join(home, 'config.yaml'), config('file:odd.key'), { mode: 0o600 });
    const refused = await runInProcess(['gateway', 'run', '--port', '0', '--no-last-good'], { home });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /odd\.key/);
  });
});

function replaceAny(path: string, make: Make): void {
  execFileSync('rm', ['-rf', path]);
  replace(path, make);
}

const CASES: Readonly<Record<string, (t: TestContext) => Promise<void>>> = {
  async secret(t) {
    const home = tempDir(t);
    fifo(join(home, 'key'));
    const secrets = [{ ref: { kind: 'file', value: 'key', scope: 'default' } as const, expires_at: null }];
    const { gateway } = prepareGateway(t, { routes: { ci: { prompt, secrets } } }, { home });
    await assert.rejects(gateway.load(), /\bkey\b/);
  },
  async skill(t) {
    const home = tempDir(t);
    for (const name of ['odd', 'good']) mkdirSync(join(home, 'skills', name), { recursive: true });
    fifo(join(home, 'skills/odd/SKILL.md'));
    writeFileSync(join(home, 'skills/good/SKILL.md'), 'Be kind.');
    const log = recordLog();
    assert.equal(await loadSkills(['odd', 'good'], home, { readText: gatewayFiles.readText, log }), 'Be kind.\n\n');
    assert.deepEqual(
      log.lines.map(({ level, fields }) => [level, fields.skill]),
      [['warn', 'odd']],
    );
  },
  async session(t) {
    const home = tempDir(t);
    const { path } = await openSession({ home, target: 'messenger_a', chatId: '7' });
    replace(path, fifo);
    const log = recordLog();
    const mirror = createMirror({ clock: new FakeClock(), log, sessions: fileSessions(() => home) });
    await mirror({
      profile: 'default',
      target: 'messenger_a',
      chat_id: '7',
      route: 'ci',
      delivery_id: '1',
      text: 'hi',
    });
    assert.equal(log.lines.length, 1);
  },
  async table(t) {
    const { gateway, post, home } = await serve(t, { routes: { ci: { prompt } } });
    replace(join(home, 'build', 'routes.json'), fifo);
    assert.equal(await gateway.reload(), false);
    assert.match(gateway.status().table.error ?? '', /routes\.json/);
    assert.equal((await post('/webhooks/ci', {})).status, 202);
  },
  async catalog(t) {
    const { url, home } = await serve(t, {});
    fifo(join(home, 'build', 'blueprints.json'));
    assert.equal((await fetch(`${url}/blueprints`)).status, 404);
    assert.equal((await fetch(`${url}/health`)).status, 200);
  },
};

describe('a script', POSIX, () => {
  const script = { path: 'run.sh', interpreter: 'bash', timeout_seconds: 10 } as const;

  it('that is a hard link to a file outside its folder does not run', async (t) => {
    const { post, home, dispatcher, log } = await serve(t, { routes: { ci: { prompt, script } } });
    mkdirSync(join(home, 'scripts'));
    writeFileSync(join(home, 'outside.sh'), `touch ${home}/ran; echo text`);
    linkSync(join(home, 'outside.sh'), join(home, 'scripts/run.sh'));
    assert.equal((await post('/webhooks/ci', {})).body.reason, 'script');
    assert.throws(() => readFileSync(join(home, 'ran')));
    assert.equal(dispatcher.handed.length, 0);
    assert.ok(log.lines.some(({ level }) => level === 'warn' || level === 'error'));
  });

  it('that is a hard link is rejected when the config is compiled', async (t) => {
    const home = tempDir(t);
    mkdirSync(join(home, 'scripts'));
    writeFileSync(join(home, 'outside.sh'), 'cat');
    linkSync(join(home, 'outside.sh'), join(home, 'scripts/run.sh'));
    const routes = '{ ci: { prompt: "{x}", script: run.sh } }';
    const text = `platforms: { webhook: { enabled: true, secret: 0123456789abcdef-a-key, routes: ${routes} } }\n`;
    writeFileSync(join(home, 'config.yaml'), text, { mode: 0o600 });
    const { code, stderr, stdout } = await runInProcess(['lint'], { home });
    assert.match(stderr + stdout, /error script-outside: `run\.sh`/);
    assert.equal(code, 1);
  });

  it('that is a FIFO is ignored immediately', async (t) => {
    const { post, home } = await serve(t, { routes: { ci: { prompt, script } } });
    mkdirSync(join(home, 'scripts'));
    fifo(join(home, 'scripts/run.sh'));
    assert.equal((await post('/webhooks/ci', {})).body.reason, 'script');
  });
});
