/** Loads the variables of profiles from the environment and `.env` files, and reads facts about the machine. */
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import { mayOthersWrite, parseEnvLines } from '../../base/files.ts';
import { scriptsFolder } from '../config/route-keys.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { Variables } from '../text/plain-data.ts';
import type { SourceText } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { JobRef, MachineFacts, ScriptState } from '../views/views.ts';
import type { Files, HomeDisk } from './files.ts';
import { displayPath, readText, unreadable } from './files.ts';
import { projectEnvPath } from './search-config.ts';

/** @param profileHome absolute path of a folder; a missing `.env` counts as empty */
export function loadEnvFile(files: Files, profileHome: string, cwd: string): EnvFile {
  const path = join(profileHome, '.env');
  const read = readText(files, path);
  if (!read.ok && read.missing) return { values: new Map(), findings: [] };
  const source = { path, name: displayPath(path, cwd), text: read.ok ? read.text : '' };
  if (read.ok) return parseEnvFile(source);
  return { values: new Map(), findings: [unreadable(source, read.message)] };
}

/**
 * Loads the `.env` next to `./hookwright.yaml`. Anyone who can write it controls the gateway's secrets, so a file that other
 * users can write is not read.
 * @param path absolute; undefined if another config is in use
 */
export function loadProjectEnv(files: Files, path: string | undefined, cwd: string): EnvFile {
  if (path === undefined) return { values: new Map(), findings: [] };
  if (isUsableEnv(files, path)) return loadEnvFile(files, dirname(path), cwd);
  const source = { path, name: displayPath(path, cwd), text: '' };
  const message = 'others can write this file, so it is not read';
  const finding: Finding = { rule: 'secret-exposed', source, range: START, message, hint: `chmod o-w ${source.name}` };
  return { values: new Map(), findings: [finding] };
}

/** Also true for a missing file. */
const isUsableEnv = (files: Files, path: string): boolean => !mayOthersWrite(files.stat(path)?.mode ?? 0);

/** The process environment overrides files, and later files override earlier ones (decisions §2). Empty variables are unset. */
export function mergeEnv(
  env: Readonly<Record<string, string | undefined>>,
  ...files: readonly ReadonlyMap<string, string>[]
): ReadonlyMap<string, string> {
  const merged = new Map(files.flatMap((file) => [...file]));
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value !== '') merged.set(name, value);
  return merged;
}

interface EnvSearch extends HomeDisk {
  readonly configs: readonly string[];
  /** The process environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface LoadedVariables {
  readonly variables: Variables;
  /** Returns the variables of a profile. Only the default profile also reads the process environment. */
  readonly ofProfile: (profile: string) => ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

/** Loads the variables that override settings and that secrets refer to, with their origins. */
export function loadVariables({ files, cwd, home, configs, env }: EnvSearch): LoadedVariables {
  const file = loadEnvFile(files, home, cwd);
  const projectPath = projectEnvPath(files, { cwd, home }, configs);
  const project = loadProjectEnv(files, projectPath, cwd);
  const own = mergeEnv(env, file.values, project.values);
  const [ofHome, ofProject] = [join(home, '.env'), projectPath ?? ''].map((path) => `\`${displayPath(path, cwd)}\``);
  const originOf = (name: string): string | undefined => {
    if ((env[name] ?? '') !== '') return 'the environment';
    return project.values.has(name) ? ofProject : ofHome;
  };
  const variables = new Map([...own].map(([name, value]) => [name, { value, origin: originOf(name) ?? '' }]));
  return {
    variables,
    ofProfile: (profile) =>
      profile === 'default' ? own : loadEnvFile(files, join(home, 'profiles', profile), cwd).values,
    findings: [...file.findings, ...project.findings],
  };
}

/** Parses `.env` files and reports lines that cannot be parsed. */
interface EnvFile {
  readonly values: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

export function parseEnvFile(source: SourceText): EnvFile {
  const { values, faults } = parseEnvLines(source.text);
  const message = 'not a `KEY=value` line';
  // The line may contain a secret.
  const findings = faults.map(
    (range): Finding => ({ rule: 'env-file-syntax', source, range, message, sensitive: true }),
  );
  return { values, findings };
}

/** Reads facts about the machine from its file system and environment. */
interface FactsSource {
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
