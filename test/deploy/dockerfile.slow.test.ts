/**
 * `npm run test:long -- test/deploy` runs the steps of the Dockerfile in an empty folder, without a container engine, and starts the result
 * as compose.yaml does: not as root, as process 1, on a read-only root, without capabilities.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { atEnd } from '../helpers/at-end.ts';
import { until } from '../helpers/gateway.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import type { Stage } from './dockerfile-steps.ts';
import { argvOf, parseDockerfile, variablesOf } from './dockerfile-steps.ts';
import { makeRoot, missingForSandbox, mounts, runInRoot } from './sandbox.ts';

const isLong = process.env.HOOKWRIGHT_LONG_TESTS === '1';
const missing = isLong ? missingForSandbox() : null;
if (missing !== null) console.error(`SKIPPED: ${missing} is not here; the Dockerfile was not tried`);

const SECRET = 'a-secret-inside-a-container-123456';
const config = (port: number): string => `platforms:
  webhook:
    enabled: true
    port: ${port}
    secret: env:WEBHOOK_SECRET
    routes:
      hello: { prompt: "Hello, {name}" }
agent:
  command: [cat]
  confined: It repeats its prompt.
`;

const stages = parseDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));

interface Image {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** uid:gid */
  readonly user: string;
  readonly argv: readonly string[];
  readonly health: readonly string[];
}

/** Builds a stage as an engine does. */
function build(stage: Stage, dir: string, others: ReadonlyMap<string, Image>): Image {
  const root = join(dir, `stage-${others.size}`);
  makeRoot(root);
  const image = {
    root,
    env: {} as NodeJS.ProcessEnv,
    cwd: '/',
    user: '0:0',
    entry: [] as readonly string[],
    cmd: [] as readonly string[],
    health: [] as readonly string[],
  };
  for (const { name, text } of stage.steps) {
    if (name === 'WORKDIR') {
      image.cwd = text;
      mkdirSync(join(root, text), { recursive: true });
    } else if (name === 'ENV') Object.assign(image.env, Object.fromEntries(variablesOf(text)));
    else if (name === 'COPY') copy(text, image, others);
    else if (name === 'RUN') runInRoot(root, text, { cwd: image.cwd, env: { PATH: process.env.PATH, ...image.env } });
    else if (name === 'USER') image.user = text;
    else if (name === 'ENTRYPOINT') image.entry = argvOf(text);
    else if (name === 'CMD') image.cmd = argvOf(text);
    else if (name === 'HEALTHCHECK') image.health = argvOf(text.slice(text.indexOf('CMD ') + 4));
    else assert.ok(['VOLUME', 'EXPOSE', 'STOPSIGNAL'].includes(name), name);
  }
  const { entry, cmd, ...rest } = image;
  return { ...rest, argv: [...entry, ...cmd] };
}

function copy(text: string, { root, cwd }: { root: string; cwd: string }, others: ReadonlyMap<string, Image>): void {
  const [, stage, from = '', to = ''] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(text) ?? [];
  if (stage !== undefined)
    cpSync(join(others.get(stage)?.root ?? '', from), join(root, to), { recursive: true, verbatimSymlinks: true });
  else for (const file of contextFiles()) cpSync(join(ROOT, file), join(root, cwd, file));
}

/** The files of the repository that .dockerignore does not exclude. */
function contextFiles(): readonly string[] {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').trim().split('\n');
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed
    .split('\0')
    .filter((file) => file !== '' && !ignored.some((name) => file === name || file.startsWith(`${name}/`)));
}

test('the image is built, serves as a separate user on a read-only root, and stops on a signal', {
  skip: !isLong || missing !== null,
}, async (t) => {
  const dir = tempDir(t);
  chmodSync(dir, 0o755);
  const images = new Map<string, Image>();
  for (const stage of stages) images.set(stage.name, build(stage, dir, images));
  const image = images.get('');
  assert.ok(image !== undefined, 'the last stage');

  const service = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8')).services.hookwright;
  assert.deepEqual([service.read_only, service.cap_drop, service.tmpfs], [true, ['ALL'], ['/tmp']]);
  const port = 20_000 + (process.pid % 20_000);
  const folder = join(dir, 'config');
  mkdirSync(folder);
  writeFileSync(join(folder, 'hookwright.yaml'), config(port));
  writeFileSync(join(folder, '.env'), `WEBHOOK_SECRET=${SECRET}\n`, { mode: 0o600 });
  for (const path of [folder, join(folder, '.env')]) chownSync(path, 1000, 1000);

  const first = start(image, folder);
  atEnd(t, () => first.kill('SIGKILL'));
  await served(first, port);
  const health = exec(image, first, image.health);
  assert.equal(health.status, 0, health.stdout + health.stderr);
  assert.equal(exec(image, first, ['id', '-u']).stdout.trim(), '1000');
  assert.match(exec(image, first, ['touch', '/app/file']).stderr, /Read-only file system/);
  assert.equal(
    readFileSync(`/proc/${processOne(first)}/status`, 'utf8').match(/CapBnd:\s*(\w+)/)?.[1],
    '0000000000000000',
  );
  process.kill(processOne(first), 'SIGTERM');
  assert.deepEqual((await once(first, 'exit'))[0], 0, said(first));

  const second = start(image, folder);
  atEnd(t, () => second.kill('SIGKILL'));
  await served(second, port);
  const list = exec(image, second, ['hookwright', 'deliveries', 'list', '--json']);
  assert.equal((JSON.parse(list.stdout) as unknown[]).length, 2, 'what was accepted before is still there');
});

const outputs = new WeakMap<ChildProcess, string[]>();
const said = (child: ChildProcess): string => (outputs.get(child) ?? []).join('');

/** Starts it as an engine does with the options of compose.yaml. */
function start({ root, cwd, env, user, argv }: Image, folder: string): ChildProcess {
  const volumes = ['--tmpfs', '/tmp', '--bind', join(root, 'data'), '/data', '--ro-bind', folder, '/config'];
  const namespaces = ['--unshare-pid', '--unshare-ipc', '--as-pid-1', '--die-with-parent', '--chdir', cwd];
  const child = spawn('bwrap', [...mounts(root, true), ...volumes, ...namespaces, ...asUser(user), ...argv], { env });
  const lines: string[] = [];
  outputs.set(child, lines);
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void lines.push(text));
  return child;
}

const asUser = (user: string): readonly string[] => {
  const [uid, gid] = user.split(':');
  return [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--no-new-privs',
    '--inh-caps=-all',
    '--bounding-set=-all',
  ];
};

/** The host's process id of process 1 inside. */
const processOne = (child: ChildProcess): number =>
  Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')[0]);

/** Runs a program inside, like `docker exec`. */
function exec({ env, cwd, user }: Image, child: ChildProcess, argv: readonly string[]) {
  const inside = [
    '-t',
    String(processOne(child)),
    '-m',
    '-p',
    ...asUser(user),
    'sh',
    '-c',
    'cd "$0" && exec "$@"',
    cwd,
    ...argv,
  ];
  return spawnSync('nsenter', inside, { env, encoding: 'utf8' });
}

/** Waits until it serves, and sends an event whose answer appears in its log. */
async function served(child: ChildProcess, port: number): Promise<void> {
  await until(async () => {
    assert.equal(child.exitCode, null, said(child));
    return said(child).includes('"listening"');
  });
  const headers = { 'content-type': 'application/json', 'x-gitlab-token': SECRET };
  const answer = await fetch(`http://127.0.0.1:${port}/webhooks/hello`, {
    method: 'POST',
    headers,
    body: '{"name":"Jo"}',
  });
  assert.equal(answer.status, 202, await answer.text());
  await until(async () => said(child).includes('"text":"Hello, Jo"'));
}
