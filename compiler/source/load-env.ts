/** Loads the variables of profiles: `default` has the process environment and its `.env` file, others only their own file. */
import { dirname, join } from 'node:path';
import { mayOthersWrite } from '../../base/env-lines.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import { START } from '../text/source-text.ts';
import type { Variables } from '../text/variables.ts';
import { displayPath } from './display-path.ts';
import type { EnvFile } from './env-file.ts';
import { parseEnvFile } from './env-file.ts';
import type { Files, HomeDisk } from './files.ts';
import { readText, unreadable } from './read-text.ts';
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

export interface EnvSearch extends HomeDisk {
  readonly configs: readonly string[];
  /** The process environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface LoadedVariables {
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
