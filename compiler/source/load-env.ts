/** Loads the variables of profiles: `default` has the process environment and its `.env` file, others only their own file. */
import { dirname, join } from 'node:path';
import { mayOthersWrite } from '../../base/env-lines.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import { START } from '../text/source-text.ts';
import type { Variable, Variables } from '../text/variables.ts';
import { displayPath } from './display-path.ts';
import { parseEnvFile } from './env-file.ts';
import type { Files } from './files.ts';
import { readText, unreadable } from './read-text.ts';
import { projectEnvPath } from './search-config.ts';

export interface LoadedEnv {
  readonly values: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

/** @param profileHome absolute path of a folder; a missing `.env` counts as empty */
export function loadEnvFile(files: Files, profileHome: string, cwd: string): LoadedEnv {
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
export function loadProjectEnv(files: Files, path: string | undefined, cwd: string): LoadedEnv {
  if (path === undefined) return { values: new Map(), findings: [] };
  if (isUsableEnv(files, path)) return loadEnvFile(files, dirname(path), cwd);
  const source = { path, name: displayPath(path, cwd), text: '' };
  const message = 'others can write this file, so it is not read';
  const finding: Finding = { rule: 'secret-exposed', source, range: START, message, hint: `chmod o-w ${source.name}` };
  return { values: new Map(), findings: [finding] };
}

/** Also true for a missing file. */
const isUsableEnv = (files: Files, path: string): boolean => !mayOthersWrite(files.stat(path)?.mode ?? 0);

/** A `.env` file that was read. */
interface EnvOrigin {
  readonly values: ReadonlyMap<string, string>;
  /** Path for display. */
  readonly path: string;
}

/** Like `mergeEnv`, with the origin of each variable. @param files later ones override earlier ones */
function describeEnv(env: Readonly<Record<string, string | undefined>>, files: readonly EnvOrigin[]): Variables {
  const variables = new Map<string, Variable>();
  for (const { values, path } of files) {
    for (const [name, value] of values) variables.set(name, { value, origin: `\`${path}\`` });
  }
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value !== '') variables.set(name, { value, origin: 'the environment' });
  }
  return variables;
}

/** The process environment overrides files, and later files override earlier ones (decisions §2). Empty variables are unset. */
export function mergeEnv(
  env: Readonly<Record<string, string | undefined>>,
  ...files: readonly ReadonlyMap<string, string>[]
): ReadonlyMap<string, string> {
  const merged = new Map(files.flatMap((file) => [...file]));
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value !== '') merged.set(name, value);
  return merged;
}

export interface EnvSearch {
  readonly files: Files;
  readonly cwd: string;
  /** Absolute path of `<home_dir>`. */
  readonly home: string;
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
  const variables = describeEnv(env, [
    { values: file.values, path: displayPath(join(home, '.env'), cwd) },
    { values: project.values, path: displayPath(projectPath ?? '', cwd) },
  ]);
  const own = new Map([...variables].map(([name, { value }]) => [name, value]));
  return {
    variables,
    ofProfile: (profile) =>
      profile === 'default' ? own : loadEnvFile(files, join(home, 'profiles', profile), cwd).values,
    findings: [...file.findings, ...project.findings],
  };
}
