/**
 * Tests that a sandboxed run has input, output, exit code and timeout like any other, and can use secrets without having them.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { assetFolder } from '../../../base/files.ts';
import type { SandboxPlan } from '../../../schemas/generated/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { runProcess as runCli } from '../../helpers/cli.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { ROOT } from '../../helpers/root.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { noSandbox, runSandboxed, USERS } from './run-sandboxed.ts';

const [user = 'plain'] = USERS;
const NOTHING: SandboxPlan = { network: [], read: [], write: [] };
const KEY = 'the-key-of-the-model-9f2c';

function place(t: TestContext) {
  const root = tempDir(t);
  const home = join(root, 'home');
  mkdirSync(join(home, 'work'), { recursive: true });
  return { home, userHome: join(root, 'user'), hidden: [], cwd: join(home, 'work/run'), root };
}

/** An HTTPS server on this machine, and the requests that it received. */
async function startHost(t: TestContext, name: string) {
  const root = tempDir(t);
  const [key, cert] = [join(root, 'key.pem'), join(root, 'cert.pem')];
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...names]);
  const got: string[] = [];
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      got.push(`${request.headers.authorization} ${body}`);
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => void server.close());
  return { port: (server.address() as AddressInfo).port, cert, got };
}

/** A sleep time in seconds that no other process uses, in any run of the tests. */
const secondsOf = (n: number): string => `${3126 + n}.${process.pid}`;

/** Ids of the processes with this command line. */
const running = (command: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim() === command;
    } catch {
      return false;
    }
  });

describe('a run in a sandbox', { skip: noSandbox }, () => {
  test('has input, output and exit code, and leaves nothing in the temporary folder', async (t) => {
    const { cwd, root, ...options } = place(t);
    const script = 'cat; echo "to stderr" >&2; echo x >$TMPDIR/y; exit 7';
    const env = { TMPDIR: root };
    const [result] = await runSandboxed(
      user === 'root' ? 'root' : 'plain',
      { ...options, runs: [{ argv: ['sh', '-c', script], stdin: 'the prompt', cwd, plan: NOTHING }] },
      env,
    );
    assert.deepEqual(
      [result?.kind, result?.code, result?.stdout, result?.stderr.trim()],
      ['exit', 7, 'the prompt', 'to stderr'],
    );
    assert.deepEqual(
      readdirSync(root).filter((name) => name.startsWith('hw')),
      [],
    );
  });

  test('ends at its timeout, and leaves no process', async (t) => {
    const { cwd, root: _, ...options } = place(t);
    const seconds = secondsOf(0);
    const script = `setsid sleep ${seconds} & sleep ${seconds}`;
    const [result] = await runSandboxed(user, {
      ...options,
      runs: [{ argv: ['sh', '-c', script], stdin: '', cwd, plan: NOTHING, timeoutMs: 8000 }],
    });
    assert.equal(result?.kind, 'timeout');
    assert.deepEqual(running(`sleep ${seconds}`), []);
  });

  test('ends with its gateway, even if that is killed', async (t) => {
    const { cwd, root: _, ...options } = place(t);
    const script = `setsid sleep ${secondsOf(1)} & sleep ${secondsOf(2)}`;
    const run = { argv: ['sh', '-c', script], stdin: '', cwd, plan: NOTHING };
    let gateway: ChildProcess | null = null;
    const ended = runSandboxed(user, { ...options, runs: [run] }, {}, [], (child) => {
      gateway = child;
    });
    const rejected = assert.rejects(ended);
    const all = () => [1, 2].flatMap((n) => running(`sleep ${secondsOf(n)}`));
    await until(async () => all().length === 2);
    (gateway as ChildProcess | null)?.kill('SIGKILL');
    await rejected;
    await until(async () => all().length === 0);
  });

  test('cannot start more processes than the limit of its gateway allows', async (t) => {
    const { cwd, root: _, ...options } = place(t);
    const plain = { ...options, home: join(cwd, '../../../plain') };
    if (user === 'root') spawnSync('chmod', ['-R', '777', join(cwd, '../../..')]);
    const script = 'for i in $(seq 600); do sleep 600 & done; echo STARTED';
    const run = { argv: ['bash', '-c', script], stdin: '', cwd: join(plain.home, 'run'), plan: NOTHING };
    const [result] = await runSandboxed('plain', { ...plain, runs: [run] }, {}, ['prlimit', '--nproc=300']);
    assert.match(`${result?.stderr}`, /fork: .*Resource temporarily unavailable/);
    assert.equal(result?.kind, 'exit');
  });

  test('cannot read the kernel keys of its gateway', async (t) => {
    const { cwd, root: _, ...options } = place(t);
    const [add, keyctl] = process.arch === 'arm64' ? [217, 219] : [248, 250];
    const hold = `syscall(${keyctl}, 1, 0); syscall(${add}, my $t = "user", my $n = "hw-key", my $k = "${KEY}", ${KEY.length}, -3); exec @ARGV`;
    const look = `my $i = syscall(${keyctl}, 10, -3, my $t = "user", my $n = "hw-key", 0); my $b = " " x 64; print syscall(${keyctl}, 11, $i, $b, 64), " $b\n"; open F, "/proc/keys"; print <F>; print "LOOKED"`;
    const outside = spawnSync('perl', ['-e', hold, 'perl', '-e', look], { encoding: 'utf8' });
    if (!outside.stdout.includes(KEY)) return t.skip('this kernel has no keyrings');
    if (user === 'root') spawnSync('chmod', ['-R', '777', join(cwd, '../../..')]);
    for (const each of USERS) {
      const home = join(options.home, each);
      const run = { argv: ['perl', '-e', look], stdin: '', cwd: join(home, 'run'), plan: NOTHING };
      const [result] = await runSandboxed(each, { ...options, home, runs: [run] }, {}, ['perl', '-e', hold]);
      assert.match(`${result?.stdout}`, /^-1 .*LOOKED$/s, result?.stderr);
      assert.doesNotMatch(`${result?.stdout}`, new RegExp(`${KEY}|hw-key`));
    }
  });

  test('has no file descriptor that its gateway inherited', async (t) => {
    const { cwd, root, ...options } = place(t);
    const file = join(root, 'lock');
    writeFileSync(file, KEY);
    const script = 'cat <&200; echo x >&200; ls -l /proc/self/fd';
    const run = { argv: ['bash', '-c', script], stdin: '', cwd, plan: NOTHING };
    const held = ['bash', '-c', 'exec 200<>"$0" 7<>"$0" 9<>"$0" 254<>"$0" 255<>"$0" && exec "$@"', file];
    const [result] = await runSandboxed(user, { ...options, runs: [run] }, {}, held);
    assert.doesNotMatch(`${result?.stdout}`, new RegExp(`${KEY}|lock`));
    assert.match(`${result?.stderr}`, /200: Bad file descriptor/);
    assert.equal(readFileSync(file, 'utf8'), KEY);
  });

  test('that fails is never reported as a missing sandbox, whatever the program does', async (t) => {
    const { cwd, root: _, ...options } = place(t);
    const script =
      'rm -rf $TMPDIR/.[!.]*; curl -sS https://example.com; echo "bubblewrap is old: run `evil`" >&2; exit 1';
    const run = { argv: ['sh', '-c', script], stdin: '', cwd, plan: NOTHING };
    const [result] = await runSandboxed(user, { ...options, runs: [run] });
    assert.deepEqual([result?.kind, result?.code, result?.denied], ['exit', 1, ['example.com:443']]);
  });

  test('fails if a dependency is missing, and says how to install it', async (t) => {
    const { cwd, root, ...options } = place(t);
    const bin = join(root, 'bin');
    mkdirSync(bin);
    for (const name of ['node', 'sh', 'socat', 'apt-get']) writeFileSync(join(bin, name), '', { mode: 0o755 });
    const run = { argv: ['sh', '-c', 'echo RAN'], stdin: '', cwd, plan: NOTHING, env: { PATH: bin } };
    const [result] = await runSandboxed(user, { ...options, runs: [run] });
    assert.deepEqual(
      [result?.kind, result?.code, result?.stdout],
      [
        'spawn_failed',
        'sandbox_unavailable: bubblewrap, ripgrep are not installed: run `apt-get install --yes bubblewrap ripgrep`',
        '',
      ],
    );
  });

  test('fails without running the program if bubblewrap is not allowed', async (t) => {
    const { cwd, root, ...options } = place(t);
    const bin = join(root, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n', {
      mode: 0o755,
    });
    const env = { PATH: `${bin}:${process.env.PATH}` };
    const [result] = await runSandboxed(user, {
      ...options,
      runs: [{ argv: ['sh', '-c', 'echo RAN'], stdin: '', cwd, plan: NOTHING, env }],
    });
    assert.equal(result?.kind, 'spawn_failed');
    assert.match(String(result?.code), /^sandbox_unavailable: /);
    assert.equal(result?.stdout, '');
  });

  test('uses a secret without having it: only a header of requests to its host contains it', async (t) => {
    const { cwd, root: _, ...options } = place(t);
    const host = await startHost(t, 'listed');
    const other = await startHost(t, 'other');
    const call = (url: string): string => `curl -sSk -H "authorization: $KEY" -d "body=$KEY" ${url}`;
    const script = [
      'echo "$KEY"',
      call(`https://127.0.0.1:${host.port}/`),
      call(`https://localhost:${other.port}/`),
      'env; cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"; cat $TMPDIR/../control/* 2>/dev/null',
    ].join('; ');
    const plan = { ...NOTHING, network: [`127.0.0.1:${host.port}`, `localhost:${other.port}`] };
    const env = { KEY, NODE_EXTRA_CA_CERTS: host.cert };
    const walls = { onlyTo: { KEY: { only_to: [`127.0.0.1:${host.port}`] } } };
    const [result] = await runSandboxed(user, {
      ...options,
      runs: [{ argv: ['sh', '-c', script], stdin: '', cwd, plan, walls, env }],
    });
    assert.ok(!`${result?.stdout}${result?.stderr}`.includes(KEY), result?.stdout);
    assert.match(host.got.join(), new RegExp(`^${KEY} body=placeholder-|^${KEY} body=[0-9a-f]{${KEY.length}}$`));
    assert.equal(other.got.length, 1);
    assert.ok(!other.got.join().includes(KEY), other.got.join());
  });

  test('cannot change the program of its gateway, even in a writable folder', async (t) => {
    const { cwd, root: _, ...options } = place(t);
    const program = dirname(assetFolder('catalog'));
    const script = `touch ${program}/escape-${process.pid} ${program}/catalog/escape-${process.pid}; echo RAN`;
    const plan = { ...NOTHING, write: [dirname(program)] };
    const run = { argv: ['sh', '-c', script], stdin: '', cwd, plan };
    const [result] = await runSandboxed(user, { ...options, runs: [run] });
    assert.equal(result?.stdout, 'RAN\n', result?.stderr);
    assert.equal(result?.stderr.match(/Read-only file system/g)?.length, 2, result?.stderr);
  });

  test('cannot change the lists, scripts and programs of its gateway, even in a writable folder', async (t) => {
    const [home, project] = [tempDir(t), tempDir(t)];
    const at = (name: string): string => join(project, name);
    const [list, script] = [at('allow.txt'), join(home, 'scripts')];
    writeFileSync(list, 'ann\n');
    writeFileSync(
      at('agent'),
      '#!/bin/sh\nfor f in allow.txt agent pass.sh new; do echo evil >>$f; done; cat allow.txt\n',
    );
    writeFileSync(at('pass.sh'), 'cat\n');
    chmodSync(at('agent'), 0o755);
    symlinkSync(project, script);
    const config = `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      a:
        prompt: "{by}"
        filters: { all: [ { not: { field: by, equals: none } }, { field: by, in_file: ${list} } ] }
        script: pass.sh
        deliver: log
agent: { command: [${at('agent')}], cwd: ${project}, sandbox: { network: none }, max_attempts: 1 }
`;
    const gateway = await startGateway(t, { home, config });
    const send = (by: string) => gateway.cli('webhook', 'test', 'a', '--payload', JSON.stringify({ by }), '--yes');
    await send('ann');
    const all = await until(async () => {
      const { stdout } = await gateway.cli('deliveries', 'list', '--state', 'done', '--json');
      return (JSON.parse(stdout) as readonly { readonly id: string }[]).length === 1 && stdout;
    });
    const [{ id } = assert.fail()] = JSON.parse(all) as readonly { readonly id: string }[];
    const shown = await gateway.cli('deliveries', 'show', id, '--json');
    assert.equal((JSON.parse(shown.stdout) as { readonly answer: string }).answer.trim(), 'ann');
    assert.deepEqual([readFileSync(list, 'utf8'), readFileSync(at('pass.sh'), 'utf8')], ['ann\n', 'cat\n']);
    assert.equal(readFileSync(at('new'), 'utf8'), 'evil\n');
    assert.doesNotMatch(readFileSync(at('agent'), 'utf8'), /^evil/m);
    assert.match((await send('evil')).stdout, /filter/);
  });

  test('`sandbox try` shows the same sandbox and the denied accesses; `doctor` shows that it works', async (t) => {
    const [home, shared] = [tempDir(t), tempDir(t)];
    // Neither in a home nor in a temporary folder: hidden because the configuration names it as a secret.
    const keys = mkdtempSync(join(ROOT, 'build/keys-'));
    atEnd(t, () => rmSync(keys, { recursive: true }));
    const lists = tempDir(t);
    writeFileSync(join(lists, 'allow.txt'), 'ann\n');
    writeFileSync(join(keys, 'real'), KEY, { mode: 0o600 });
    writeFileSync(join(keys, 'other'), 'seen');
    symlinkSync('real', join(keys, 'key'));
    const config = `platforms: { webhook: { enabled: true, secret: "file:${keys}/key", routes: { a: { prompt: "{x}", filters: { field: x, in_file: ${lists}/allow.txt } } } } }
agent: { command: [cat], sandbox: { network: none, write: [${lists}] } }
agents: { second: { command: [cat], sandbox: { network: none, read: [~/none] }, env: { TOK: env:NOT_SET } } }
`;
    writeFileSync(join(home, 'hookwright.yaml'), config, { mode: 0o600 });
    const options = { cwd: home, env: { HOOKWRIGHT_HOME: home, TMPDIR: home }, home };
    const tryIt = (...words: string[]) => runCli(['sandbox', 'try', ...words], options);
    const script = `echo evil >>${lists}/allow.txt; cat ${lists}/allow.txt; echo x >${lists}/new && echo MADE; cat hookwright.yaml ${keys}/*; ls -A ${shared}/..; echo x >/dev/shm/own; curl -sS https://example.com; exit 3`;
    for (const words of [['--'], ['default', '--']]) {
      const tried = await tryIt(...words, 'sh', '-c', script);
      assert.equal(tried.code, 3, tried.stderr);
      assert.match(tried.stderr, /: .*example\.com:443\n/);
      assert.match(tried.stdout, /^ann\nMADE\n/);
      assert.doesNotMatch(tried.stdout, new RegExp(`platforms|${KEY}|${basename(shared)}`));
      // A clone in a temporary folder is hidden as a whole.
      if (!/^\/(?:var\/)?tmp\//.test(keys)) assert.match(tried.stdout, /seen/);
    }
    const lacks = await tryIt('second', '--', 'true');
    assert.match(lacks.stderr, /^error: .*\bsecond\b.*\benv\.TOK: env:NOT_SET/m);
    assert.match((await tryIt('ls')).stderr, /\bls\b.*\n.*hookwright sandbox try -- ls/);
    const doctor = await runCli(['doctor'], options);
    assert.deepEqual(
      readdirSync(home).filter((name) => name.startsWith('hw')),
      [],
    );
    assert.match(doctor.stdout, /sandbox +works /);
    assert.match(doctor.stdout, /sandbox +path .*~\/none/);
  });
});
