/** Runs programs with a folder as `/`, with this machine's programs instead of a base image. Needs Linux, root and bubblewrap. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The reason why this machine cannot run the steps of a Dockerfile without an engine, or null. */
export function missingForSandbox(): string | null {
  if (process.getuid?.() !== 0) return 'root';
  const tools = [
    ['bwrap', '--version'],
    ['setpriv', '--version'],
    ['nsenter', '--version'],
  ] as const;
  return tools.find(([tool, flag]) => spawnSync(tool, [flag]).error !== undefined)?.[0] ?? null;
}

/** Creates the folders of a base image. */
export function makeRoot(root: string): void {
  for (const folder of ['usr', 'etc', 'proc', 'dev', 'tmp', 'root', 'var', 'run'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const name of ['bin', 'lib', 'lib64', 'sbin']) {
    if (existsSync(join('/usr', name))) symlinkSync(join('usr', name), join(root, name));
  }
}

/** Arguments of bwrap: `root` as `/`, the programs of this machine, and its network. */
export const mounts = (root: string, isReadOnly = false): readonly string[] => [
  ...[isReadOnly ? '--ro-bind' : '--bind', root, '/'],
  ...['--ro-bind', '/usr', '/usr', '--ro-bind', '/etc', '/etc', '--proc', '/proc', '--dev', '/dev'],
];

/** The variables for the package registry of this machine, which an engine passes to a build. */
export const registryMounts = (): readonly string[] => {
  const home = process.env.HOME ?? '/root';
  return ['--ro-bind-try', join(home, '.npmrc'), '/root/.npmrc', '--bind-try', join(home, '.npm'), '/root/.npm'];
};

export const registryVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^npm_config_|proxy$|^NODE_EXTRA_CA_CERTS$|^SSL_CERT/i.test(name)),
  );

export function runInRoot(root: string, command: string, options: { cwd: string; env: NodeJS.ProcessEnv }): void {
  const argv = [...mounts(root), ...registryMounts(), '--chdir', options.cwd, 'sh', '-c', command];
  const env = { ...registryVariables(), HOME: '/root', ...options.env };
  execFileSync('bwrap', argv, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}
