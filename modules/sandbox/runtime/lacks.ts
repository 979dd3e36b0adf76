/** What a sandbox needs of this machine, and the command that provides what is missing. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmInstall } from '../../../runtime/platform/npm-install.ts';

const PACKAGE = '@anthropic-ai/sandbox-runtime';
/** Its settings change between versions, and a setting that it does not know protects nothing. */
const VERSION = '0.0.83';

/** Debian's names, which other systems share, by program. */
const PROGRAMS: Readonly<Record<string, string>> = { bwrap: 'bubblewrap', socat: 'socat', rg: 'ripgrep' };

/** How each package manager installs, in the order in which they are looked for. */
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

/** The installed runtime: the URL of its entry and its folder. @throws Error that says what to install */
export function findRuntime(path = process.env.PATH ?? ''): { readonly entry: string; readonly folder: string } {
  const { entry, folder } = findPackage();
  const needed = { linux: Object.keys(PROGRAMS), darwin: ['rg'] }[process.platform as string];
  if (needed === undefined) throw new Error(`there is no sandbox for ${process.platform}`);
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
  throw new Error(`${PACKAGE} ${version} is installed, and ${VERSION} is needed: ${install}`);
}

const isOnPath = (program: string, path: string): boolean =>
  path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, program)));

/** A refusal of the runtime or the kernel, with the command that lifts it where it is known. */
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
