/** Resolves secret references from the environment, the profiles' `.env` files and secret files. */

import { isAbsolute, join } from 'node:path';
import { codeOf } from '../../../base/code-of.ts';
import { parseEnvLines } from '../../../base/env-lines.ts';
import { DEFAULT_PROFILE } from '../../../base/profiles.ts';
import { UnreadableFile } from '../../../base/read-regular-file.ts';
import type { SecretRef } from '../../../schemas/generated/types.ts';
import type { SecretResolver } from './secrets.ts';
import { printSecretRef, SecretError } from './secrets.ts';

export interface SecretContext {
  /** The process environment, used for the default profile only. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `<home_dir>`. */
  readonly home: string;
  /** Absolute path of a second `.env` for the default profile only, which wins over that of the home. */
  readonly projectEnv?: string | null;
  /** The user's home folder, for `~/`. */
  readonly userHome: string;
  /** Throws as node:fs does. */
  readonly readFile: (path: string) => string;
}

/** Profile names become parts of paths, so no others are allowed. */
const PROFILE = /^[a-z0-9][a-z0-9_-]*$/;

/**
 * Creates a resolver that reads each `.env` file once; create a new one for each table.
 * The default profile's variables are those of the process, then those of `projectEnv`, then of `<home_dir>/.env`. Any
 * other profile has only its own `.env`, without fallback to another profile (decisions §4).
 */
export function createSecretResolver(context: SecretContext): SecretResolver {
  const envFiles = new Map<string, ReadonlyMap<string, string>>();
  const envFile = (scope: string): ReadonlyMap<string, string> => {
    const known = envFiles.get(scope);
    if (known !== undefined) return known;
    const values = new Map(variableFiles(scope, context).flatMap((path) => [...readEnvFile(path, context)]));
    envFiles.set(scope, values);
    return values;
  };
  return { resolve: (ref) => present(ref, READERS[ref.kind](ref, context, envFile), context) };
}

/** The `.env` files of a profile; later ones win. */
function variableFiles(scope: string, context: Pick<SecretContext, 'home' | 'projectEnv'>): readonly string[] {
  const own = join(homeOf(scope, context), '.env');
  return scope === DEFAULT_PROFILE && typeof context.projectEnv === 'string' ? [own, context.projectEnv] : [own];
}

type Reader = (
  ref: SecretRef,
  context: SecretContext,
  envFile: (scope: string) => ReadonlyMap<string, string>,
) => string | undefined;

const READERS: Record<SecretRef['kind'], Reader> = {
  literal: (ref) => ref.value,
  env: (ref, { env }, envFile) => {
    const own = ref.scope === DEFAULT_PROFILE && Object.hasOwn(env, ref.value) ? env[ref.value] : undefined;
    return own === undefined || own === '' ? envFile(ref.scope).get(ref.value) : own;
  },
  file: (ref, context) => {
    try {
      // Editors and `echo` end a file with a newline, which is not part of the secret.
      return context.readFile(filePath(ref, context)).replace(/\r?\n$/, '');
    } catch (error) {
      throw new SecretError(`${printSecretRef(ref)}: ${whyUnreadable(filePath(ref, context), error)}`);
    }
  },
};

function present(ref: SecretRef, secret: string | undefined, context: SecretContext): string {
  if (secret === undefined) throw new SecretError(`${printSecretRef(ref)} is not set${whereOf(ref, context)}`);
  if (secret === '') throw new SecretError(`${printSecretRef(ref)} is empty`);
  return secret;
}

/** Says where the variable was searched, for the error. */
function whereOf({ kind, scope }: SecretRef, context: SecretContext): string {
  if (kind !== 'env') return '';
  const files = variableFiles(scope, context).toReversed();
  const places = scope === DEFAULT_PROFILE ? ['the environment', ...files] : files;
  const last = places.at(-1) ?? '';
  return ` in ${places.length === 1 ? last : `${places.slice(0, -1).join(', ')} or ${last}`}`;
}

/** Absolute path of a `file:` reference. */
export function filePath(ref: SecretRef, context: Pick<SecretContext, 'home' | 'userHome'>): string {
  if (ref.value.startsWith('~/')) return join(context.userHome, ref.value.slice(2));
  return isAbsolute(ref.value) ? ref.value : join(homeOf(ref.scope, context), ref.value);
}

/** The files from which a reference is read: its own file, or the `.env` files of its profile; none for a literal. */
export function secretFiles(
  ref: SecretRef,
  context: Pick<SecretContext, 'home' | 'userHome' | 'projectEnv'>,
): readonly string[] {
  if (ref.kind === 'literal' || (ref.scope !== DEFAULT_PROFILE && !PROFILE.test(ref.scope))) return [];
  return ref.kind === 'file' ? [filePath(ref, context)] : variableFiles(ref.scope, context);
}

function homeOf(scope: string, { home }: Pick<SecretContext, 'home'>): string {
  if (scope === DEFAULT_PROFILE) return home;
  if (!PROFILE.test(scope)) throw new SecretError(`"${scope}" is no name of a profile`);
  return join(home, 'profiles', scope);
}

/** A profile without a `.env` has no variables. */
function readEnvFile(path: string, { readFile }: SecretContext): ReadonlyMap<string, string> {
  try {
    return parseEnvLines(readFile(path)).values;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Map();
    throw new SecretError(whyUnreadable(path, error));
  }
}

/** The error text, with the absolute path. */
function whyUnreadable(path: string, error: unknown): string {
  return error instanceof UnreadableFile
    ? error.message
    : `${path} cannot be read (${codeOf(error) ?? 'not readable'})`;
}
