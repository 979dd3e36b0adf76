/** The variables of each profile: the process environment above its `.env` file. Other profiles see only their own file. */
import { join } from 'node:path';
import type { Finding } from '../diagnostics/diagnostic.ts';
import { displayPath } from './display-path.ts';
import { parseEnvFile } from './env-file.ts';
import type { Files } from './files.ts';
import { readText } from './read-text.ts';
import { START } from './source-text.ts';

export interface LoadedEnv {
  readonly values: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

/** @param profileHome absolute folder; a missing `.env` is empty. */
export function loadEnvFile(files: Files, profileHome: string, cwd: string): LoadedEnv {
  const path = join(profileHome, '.env');
  const read = readText(files, path);
  if (!read.ok && read.missing) return { values: new Map(), findings: [] };
  const source = { path, name: displayPath(path, cwd), text: read.ok ? read.text : '' };
  if (read.ok) return parseEnvFile(source);
  return { values: new Map(), findings: [{ rule: 'unreadable-file', source, range: START, message: read.message }] };
}

/** A variable, and where it is set: for messages. */
export interface Variable {
  readonly value: string;
  readonly origin: string;
}

export type Variables = ReadonlyMap<string, Variable>;

/** As `mergeEnv`, with the origin of each. @param path of the file, as it is shown. */
export function describeEnv(
  env: Readonly<Record<string, string | undefined>>,
  file: ReadonlyMap<string, string>,
  path: string,
): Variables {
  const variables = new Map<string, Variable>();
  for (const [name, value] of file) variables.set(name, { value, origin: `\`${path}\`` });
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value !== '') variables.set(name, { value, origin: 'the environment' });
  }
  return variables;
}

/** The process environment wins over the file (§2 of the decisions); an empty variable is none. */
export function mergeEnv(
  env: Readonly<Record<string, string | undefined>>,
  file: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const merged = new Map(file);
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value !== '') merged.set(name, value);
  return merged;
}
