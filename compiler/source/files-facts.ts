/** Reads facts about the machine from its file system and environment. */
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import { scriptsFolder } from '../config/script.ts';
import type { JobRef, MachineFacts, ScriptState } from '../views/machine-facts.ts';
import type { Files } from './files.ts';

export interface FactsSource {
  readonly files: Files;
  /** Absolute path of `<home_dir>`. */
  readonly home: string;
  /** Returns the variables of a profile. */
  readonly env: (profile: string) => ReadonlyMap<string, string>;
  readonly jobs: readonly JobRef[];
}

export function createFacts({ files, home, env, jobs }: FactsSource): MachineFacts {
  const isFile = (path: string): boolean => files.stat(path)?.kind === 'file';
  return {
    home,
    jobs,
    script: (profileHome, path) => scriptState(files, scriptsFolder(join(home, profileHome)), path),
    listFile: (path) => isFile(expandPath(path, home, env('default').get('HOME') ?? '')),
    // A name with a separator could lead outside the skills folder.
    skill: (profileHome, name) =>
      basename(name) === name && isFile(join(home, profileHome, 'skills', name, 'SKILL.md')),
    variable: (profile, name) => env(profile).get(name),
  };
}

/** Symbolic links are resolved before the path is checked (§2.6). */
function scriptState(files: Files, folder: string, path: string): ScriptState {
  const real = files.realpath(join(folder, path));
  const realFolder = files.realpath(folder);
  if (real === null || realFolder === null) return 'missing';
  if (!real.startsWith(realFolder + sep)) return 'outside';
  const found = files.stat(real);
  if (found?.kind !== 'file') return 'missing';
  // A hard link may be anywhere, so the path does not tell where the file came from.
  return (found.links ?? 1) > 1 ? 'linked' : 'present';
}

/** @param path relative to `<home_dir>`, below `~/`, or absolute */
function expandPath(path: string, home: string, userHome: string): string {
  if (path.startsWith('~/')) return join(userHome === '' ? dirname(home) : userHome, path.slice(2));
  return isAbsolute(path) ? path : join(home, path);
}
