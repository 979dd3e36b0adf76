/**
 * Runs programs in sandboxes of `@anthropic-ai/sandbox-runtime`, an optional dependency. Each run has a folder,
 *
 *   <temporary folder>/hw-<home>-XXXXXX/
 *     control/   settings, denied accesses, sockets of the proxies; hidden from the program
 *     scratch/   its temporary files ($TMPDIR)
 *
 * and is started by launch.mjs. The folder is removed after the run. The next gateway removes those of a killed one.
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf, messageOf } from '../../../base/errors.ts';
import { assetFolder } from '../../../base/files.ts';
import { TreeRemover } from '../../../runtime/platform/files.ts';
import type { ProcessRequest, ProcessResult } from '../../../runtime/platform/process/run-process.ts';
import { FOLDER_IN_USE } from '../../../runtime/platform/process/run-process.ts';
import type { Sandbox, SandboxContext, SandboxExtras } from '../../../runtime/platform/process/sandbox.ts';
import { SANDBOX_UNAVAILABLE } from '../../../runtime/platform/process/sandbox.ts';
import { npmInstall } from '../../../runtime/platform/process/threads.ts';
import type { SandboxPlan } from '../../../schemas/generated/types.ts';
import type { Paths } from './paths.ts';
import { coverFiles, depth, entriesOf, openPaths, realOf, within } from './paths.ts';
import { insertionOf, listsLocal, settingsOf } from './settings.ts';

/** A plan that allows nothing, to test whether sandboxes work at all. */
const NOTHING: SandboxPlan = { network: [], read: [], write: [] };
const TRIAL = { argv: ['true'], cwd: '/', stdin: '', timeoutMs: 30_000, maxStdoutBytes: 1024 };

/** The line of the report that means: the program runs in its sandbox. */
const STARTED = 'started';

/** Writing there affects nothing outside, and does not count as a denied access. */
const OWN_FOLDERS = ['/dev', '/proc/self', '/proc/thread-self'];

/** Temporary folders of other programs, in addition to that of this process. */
const TEMPORARY = ['/tmp', '/private/tmp', '/var/tmp'];
/** The code of this program, which the next run loads, and the packages beside it if it is installed as one. */
const OWN_FOLDER = dirname(assetFolder('catalog')).replace(/(?<=\/node_modules)\/.*/s, '');

export function openSandbox(context: SandboxContext): Sandbox {
  const folders = openFolders(context);
  /** Folders that a run currently uses. */
  const used = new Set<string>();
  const runNow: Sandbox['run'] = async (plan, walls, request) => {
    const prepareIn = async (folder: string) =>
      prepare(plan, walls, request, { ...context, folder, temporary: folders.temporary });
    // A failure after the program may have started must not count as "not started", because that is retried.
    const prepared = await folders.create().then(prepareIn).catch(notStarted);
    if ('kind' in prepared) return prepared;
    const { folder, launch, closed } = prepared;
    const result = await context.run(launch);
    const report = await readFile(join(folder, 'control', 'report'), 'utf8').catch(() => '');
    await folders.remove(folder);
    return resultOf(result, report, closed);
  };
  const run: Sandbox['run'] = async (plan, walls, request) => {
    const cwd = realOf(request.cwd);
    if (request.writable?.some((path) => within(cwd, realOf(path))) !== true) return runNow(plan, walls, request);
    // At the end of a run, the runtime removes the empty files that prevent programs from creating `.mcp.json` and similar
    // files.
    if (used.has(cwd)) return { kind: 'spawn_failed', code: FOLDER_IN_USE, stderr: '' };
    used.add(cwd);
    return runNow(plan, walls, request).finally(() => used.delete(cwd));
  };
  return {
    run,
    async problem() {
      const result = await run(NOTHING, {}, { ...TRIAL, env: process.env });
      if (result.kind === 'exit' && result.code === 0) return null;
      return 'code' in result && typeof result.code === 'string' ? result.code : unavailable(result.kind);
    },
    closed: (plans) => {
      const written = plans.flatMap(({ write }) => write);
      const machine = { userHome: realOf(context.userHome), written, make: false };
      return [...new Set(plans.flatMap((plan) => openPaths(plan, machine).closed))];
    },
  };
}

const notStarted = (error: unknown): ProcessResult => ({
  kind: 'spawn_failed',
  code: codeOf(error) ?? unavailable(messageOf(error)),
  stderr: '',
});

const unavailable = (reason: string): string => `${SANDBOX_UNAVAILABLE}: ${reason}`;

/** Creates the process that applies the settings of a run, and lists the paths of its plan that cannot be opened. */
async function prepare(
  { network, limits = {}, ...plan }: SandboxPlan,
  { hidden: others = [], onlyTo = {}, written = [] }: SandboxExtras,
  request: ProcessRequest,
  context: SandboxContext & { readonly folder: string; readonly temporary: string },
) {
  const { folder, temporary } = context;
  const runtime = findRuntime(request.env.PATH);
  const [control, scratch] = [join(folder, 'control'), join(folder, 'scratch')];
  await Promise.all([mkdir(control, { mode: 0o700 }), mkdir(scratch, { mode: 0o700 })]);
  const userHome = realOf(context.userHome);
  const read = [...plan.read, ...(request.readable ?? [])];
  const opened = { read, write: [...plan.write, ...(request.writable ?? [])] };
  const paths = openPaths(opened, { userHome, written: [...others, ...written], make: true });
  const walls = [context.home, userHome, '/run', temporary, ...TEMPORARY, ...others].map(realOf);
  const hidden = spelled(context.hidden());
  // On other systems the sandbox matches names, so a file that replaces a hidden file is hidden too.
  const cover = coverFiles(process.platform === 'linux' ? hidden : [], walls, paths);
  const { write } = cover.paths;
  const programs = [OWN_FOLDER, runtime.folder, ...(process.env.PATH ?? '').split(delimiter)];
  const kept = spelled([...programs, ...context.kept().flatMap(insides)]).filter((path) => !write.includes(path));
  const { settings, mounts, writable } = settingsOf({
    ...cover,
    network,
    onlyTo,
    control,
    scratch,
    userHome,
    runtime: runtime.folder,
    folders: [...walls, ...cover.folders],
    hidden: hidden.filter((path) => existsSync(path)),
    // Includes missing files, because the gateway would follow one that a program creates.
    kept: [...hidden, ...kept].filter((path) => depth(path, write) >= 0),
  });
  const file = join(control, 'settings.json');
  const launch = {
    argv: request.argv,
    settings: { ...settings, bwrapPath: besides('bwrap.sh') },
    module: runtime.entry,
    report: join(control, 'report'),
    scratch,
    parent: process.pid,
    unreported: [temporary, ...OWN_FOLDERS, ...spellings(cover.paths)],
    proxied: listsLocal(network),
    guarded: Object.fromEntries(Object.entries(onlyTo).map(([name, guarded]) => [name, insertionOf(guarded)])),
    limits,
    folders: [scratch, ...(request.writable ?? [])],
  };
  const listed = (words: readonly string[]): string => words.map((word) => `${word}\0`).join('');
  const files = {
    'settings.json': JSON.stringify(launch),
    'keyrings.bpf': keyringFilter(),
    arguments: listed(mounts),
    writable: listed([temporary, ...writable]),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(control, name), content, { mode: 0o600 });
  const env = { ...request.env, TMPDIR: control, HOOKWRIGHT_SANDBOX: control };
  const argv = [process.execPath, besides('launch.mjs'), file];
  return { folder, launch: { ...request, argv, env }, closed: paths.closed };
}

/** A name may be a link; its target is included as well. */
const spelled = (paths: readonly string[]): readonly string[] =>
  paths.filter(isAbsolute).flatMap((path) => [path, realOf(path)]);

/** The path and the entries of its folders: a skill is a file in a folder, and each may be a link. */
const insides = (path: string): readonly string[] => [path].flatMap(withEntries).flatMap(withEntries);

const withEntries = (path: string): readonly string[] => [path, ...(entriesOf(path) ?? [])];

/** Writable paths, as spelled through links: a check by name alone would treat them as denied. */
const spellings = ({ links, write }: Paths): readonly string[] =>
  [...links.keys()].flatMap((link) => {
    const real = realOf(link);
    const opened = write.filter((path) => within(path, real) || within(real, path));
    return opened.map((path) => join(link, path.slice(real.length)));
  });

const besides = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url));

function resultOf(result: ProcessResult, report: string, closed: Paths['closed']): ProcessResult {
  if (result.kind === 'spawn_failed' || result.kind === 'input_failed') return result;
  const lines = report.split('\n').filter((line) => line !== '');
  const refusal = lines.find((line) => line.startsWith('unavailable '))?.slice('unavailable '.length);
  if (refusal !== undefined || (result.kind === 'exit' && result.code !== 0 && !lines.includes(STARTED))) {
    // If the runtime reports nothing, bubblewrap or the kernel refused.
    const last = result.stderr.trimEnd().split('\n').at(-1) || 'bubblewrap did not start the program';
    return { kind: 'spawn_failed', code: unavailable(explainRefusal(refusal ?? last)), stderr: result.stderr };
  }
  const refused = lines.filter((line) => line !== STARTED).map((line) => line.replace(/^deny \S+ | \(.*\)$/g, ''));
  const denied = [...new Set([...closed, ...refused])];
  return denied.length === 0 ? result : { ...result, denied };
}

/** Manages the folders of the runs of this process. Their names cannot be guessed by other processes. */
function openFolders({ home, sweep, log }: SandboxContext) {
  /** With symbolic links resolved. */
  const temporary = realOf(tmpdir());
  if (!existsSync(temporary)) throw new Error(`$TMPDIR is ${temporary}, which does not exist`);
  const id = createHash('sha256').update(home).digest('hex').slice(0, 8);
  const prefix = join(temporary, `${sweep ? 'hw' : 'hwt'}-${id}-`);
  const open = async (): Promise<TreeRemover> => {
    const names = sweep ? await readdir(temporary) : [];
    const depot = await mkdtemp(prefix);
    process.on('exit', () => {
      // If something is left in it, the next start removes it.
      if (existsSync(depot) && readdirSync(depot).length === 0) rmdirSync(depot);
    });
    const remover = new TreeRemover(depot, log);
    const left = names.map((name) => join(temporary, name)).filter((path) => path.startsWith(prefix));
    // A folder with such a name may belong to another user; only our own are removed.
    const isOwn = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.();
    for (const path of left.filter(isOwn)) {
      // The process before this one may still end, and remove its own.
      await remover.remove(path).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT')
          log.warn({ err: error, folder: path }, 'could not remove the folder of an earlier run');
      });
    }
    return remover;
  };
  const opened = open();
  opened.catch(() => {});
  return {
    temporary,
    create: () => opened.then(() => mkdtemp(prefix)),
    async remove(path: string): Promise<void> {
      try {
        const remover = await opened;
        await remover.remove(path);
        // A command exits right after this; a gateway keeps running.
        if (!sweep) await remover.idle();
      } catch (error) {
        log.warn({ err: error, folder: path }, 'could not remove the folder of a run');
      }
    },
  };
}

/**
 * A system call filter in the form that `bwrap --seccomp` reads. It makes the calls of the kernel's keyrings fail. No namespace
 * separates keyrings, so a program could find the keys of the user who started the gateway: Kerberos, network and encrypted
 * file systems.
 */

/**
 * `add_key`, `request_key` and `keyctl`, by AUDIT_ARCH: each kind of program that a machine supported by the runtime can
 * execute.
 */
const CALLS: readonly (readonly [arch: number, ...calls: number[]])[] = [
  [0xc000003e, 248, 249, 250], // x86_64
  [0x40000003, 286, 287, 288], // i386
  [0xc00000b7, 217, 218, 219], // aarch64
  [0x40000028, 309, 310, 311], // arm
];

/** Offsets in `struct seccomp_data`. */
const [CALL, ARCH] = [0, 4];
/** Classic BPF: load a word, jump if equal, mask, return. */
const [LOAD, EQUAL, AND, RETURN] = [0x20, 0x15, 0x54, 0x06];
const [ALLOW, REFUSE_EPERM] = [0x7fff0000, 0x00050001];
/** x32 programs have a bit set in the numbers of x86_64. */
const WITHOUT_X32 = 0xbfffffff;

/** `struct sock_filter` on little-endian machines; the runtime supports no others. */
const instruction = (code: number, jumpTrue: number, jumpFalse: number, value: number): readonly number[] => [
  code | (jumpTrue << 16) | (jumpFalse << 24),
  value,
];

/** `struct sock_filter[]`. */
export function keyringFilter(): Buffer {
  const blocks = CALLS.flatMap(([arch, ...calls]) => [
    instruction(LOAD, 0, 0, ARCH),
    instruction(EQUAL, 0, calls.length + 4, arch),
    instruction(LOAD, 0, 0, CALL),
    instruction(AND, 0, 0, WITHOUT_X32),
    ...calls.map((call, at) => instruction(EQUAL, calls.length - at, 0, call)),
    instruction(RETURN, 0, 0, ALLOW),
    instruction(RETURN, 0, 0, REFUSE_EPERM),
  ]);
  return Buffer.from(new Uint32Array([...blocks, instruction(RETURN, 0, 0, ALLOW)].flat()).buffer);
}

const PACKAGE = '@anthropic-ai/sandbox-runtime';
/** The only supported version. Settings change between versions, and an unknown setting protects nothing. */
const VERSION = '0.0.83';

/** Package names by program: Debian's, which other systems share. */
const PROGRAMS: Readonly<Record<string, string>> = { bwrap: 'bubblewrap', socat: 'socat', rg: 'ripgrep' };

/** Install commands by package manager, in the order of preference. */
const INSTALLERS: Readonly<Record<string, string>> = {
  'apt-get': 'apt-get install --yes',
  dnf: 'dnf install --assumeyes',
  apk: 'apk add',
  pacman: 'pacman --sync --noconfirm',
  brew: 'brew install',
};

/** Kernel settings that forbid user namespaces, with the value that allows them. */
const KERNEL: readonly (readonly [name: string, forbids: string, allows: string])[] = [
  ['kernel.apparmor_restrict_unprivileged_userns', '1', '0'],
  ['kernel.unprivileged_userns_clone', '0', '1'],
  ['user.max_user_namespaces', '0', '10000'],
];

/** The URL of the installed runtime's entry, and its folder. @throws Error that says what to install */
export function findRuntime(path = process.env.PATH ?? ''): { readonly entry: string; readonly folder: string } {
  const { entry, folder } = findPackage();
  const needed = { linux: Object.keys(PROGRAMS), darwin: ['rg'] }[process.platform as string];
  if (needed === undefined) throw new Error(`sandboxes are not supported on ${process.platform}`);
  const missing = needed.filter((program) => !isOnPath(program, path)).flatMap((program) => PROGRAMS[program] ?? []);
  if (missing.length === 0) return { entry, folder };
  const installer = Object.keys(INSTALLERS).find((program) => isOnPath(program, path)) ?? 'apt-get';
  const command = `${INSTALLERS[installer]} ${missing.join(' ')}`;
  throw new Error(`${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not installed: run \`${command}\``);
}

function findPackage(): { readonly entry: string; readonly folder: string } {
  const install = `run \`${npmInstall(`${PACKAGE}@${VERSION}`)}\``;
  let entry: string;
  try {
    entry = import.meta.resolve(PACKAGE);
  } catch {
    throw new Error(`the package ${PACKAGE} is not installed: ${install}`);
  }
  const folder = join(dirname(fileURLToPath(entry)), '..');
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string };
  if (version === VERSION) return { entry, folder };
  throw new Error(`${PACKAGE} ${version} is installed, but ${VERSION} is required: ${install}`);
}

const isOnPath = (program: string, path: string): boolean =>
  path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, program)));

/** Adds to an error of the runtime or the kernel the command that fixes it, where it is known. */
export function explainRefusal(reason: string): string {
  const forbidden = KERNEL.find(([name, forbids]) => settingOf(name) === forbids);
  return forbidden === undefined ? reason : `${reason}: run \`sysctl -w ${forbidden[0]}=${forbidden[2]}\``;
}

function settingOf(name: string): string | null {
  try {
    return readFileSync(join('/proc/sys', ...name.split('.')), 'utf8').trim();
  } catch {
    return null;
  }
}
