/**
 * Resolves secret references from the environment, the profiles' `.env` files and secret files: synchronously for a command,
 * without blocking for a server.
 */

import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { codeOf } from '../../base/errors.ts';
import {
  mayOthersWrite,
  parseEnvLines,
  readRegularText,
  readRegularTextSync,
  UnreadableFile,
} from '../../base/files.ts';
import { agentPlans, DEFAULT_PROFILE } from '../../base/names.ts';
import { passwordsIn } from '../../base/net.ts';
import type { AgentPlan, RoutePlan, RouteTable, SecretRef } from '../../schemas/generated/types.ts';

/** Resolves secret references of the table. */
export interface SecretResolver {
  /**
   * Returns the secret's text.
   * @param setting name of a setting whose value need not be a secret, for resolvers that check the values of secrets
   * @throws SecretError naming the reference (never its value) when it is missing or empty.
   */
  resolve(ref: SecretRef, setting?: string): string;
}

/** A secret is missing, empty or rejected. The message names the reference, never the value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** Returns the result of `read`. @throws the error that `explain` creates from the message of a SecretError */
export function explainSecrets<T>(read: () => T, explain: (reason: string) => Error): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof SecretError ? explain(error.message) : error;
  }
}

/** Returns the result of `read`; null if it throws a SecretError, whose message is added to `problems`. */
export function tryRead<T>(read: () => T, problems: string[]): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    problems.push(error.message);
    return null;
  }
}

/** A reference as the user wrote it; literals are never shown. */
export function printSecretRef(ref: SecretRef): string {
  return ref.kind === 'literal' ? 'a literal secret' : `${ref.kind}:${ref.value}`;
}

/** Finds the secret references of a table, whose values are read before it is linked and must never be shown. */
export function collectSecretRefs(plan: unknown): readonly SecretRef[] {
  if (typeof plan !== 'object' || plan === null) return [];
  if (isSecretRef(plan)) return [plan];
  return Object.values(plan).flatMap(collectSecretRefs);
}

/** All references of a table. Of its routes, which may be very many, only the fields with references are searched. */
export function tableSecretRefs(
  table: Pick<RouteTable, 'profiles' | 'server' | 'routes'> & Partial<Pick<RouteTable, 'gateway'>>,
): readonly SecretRef[] {
  const { profiles, server, gateway, routes } = table;
  const settings = new Set(
    Object.values(profiles)
      .flatMap(agentPlans)
      .flatMap(([, plan]) => agentSettings(plan)),
  );
  const refs = collectSecretRefs([profiles, server, gateway]).filter((ref) => !settings.has(ref));
  return [...refs, ...Object.values(routes).flatMap(routeSecretRefs)];
}

/**
 * Literals of environment and headers are settings, such as `STAGE: production`, unless `only_to` hides them or they are the key of a
 * known program.
 */
function agentSettings(plan: AgentPlan): readonly SecretRef[] {
  const values = plan.kind === 'command' ? plan.env : plan.kind === 'openai' ? (plan.headers ?? {}) : {};
  const hidden = 'only_to' in plan ? plan.only_to : {};
  const key = 'program' in plan ? plan.program?.key : undefined;
  return Object.entries(values).flatMap(([name, ref]) =>
    ref.kind === 'literal' && name !== key && !Object.hasOwn(hidden, name) ? [ref] : [],
  );
}

export function routeSecretRefs({ secrets, verify_token }: RoutePlan): readonly SecretRef[] {
  const refs = secrets.map(({ ref }) => ref);
  return verify_token === null ? refs : [...refs, verify_token];
}

/** A reference is the only object of a table with these three fields. */
export function isSecretRef(value: object): value is SecretRef {
  const { kind, value: text, scope } = value as Readonly<Record<string, unknown>>;
  const known = kind === 'literal' || kind === 'env' || kind === 'file';
  return known && typeof text === 'string' && typeof scope === 'string' && Object.keys(value).length === 3;
}

/** Always hidden from agents: the variable of the global secret (§2.4). */
const ALWAYS = ['WEBHOOK_SECRET'];

/** Names of the environment variables that hold these secrets, so that agents do not inherit them. */
export function secretNames(refs: readonly SecretRef[]): ReadonlySet<string> {
  return new Set([...ALWAYS, ...refs.filter(({ kind }) => kind === 'env').map(({ value }) => value)]);
}

/** Resolves secret references from the environment, the profiles' `.env` files and secret files. */
interface SecretContext {
  /** The process environment, used for the default profile only. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `<home_dir>`. */
  readonly home: string;
  /** Absolute path of a second `.env` for the default profile only, which takes precedence over that of the home. */
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

/** The `.env` files of a profile; later ones take precedence. */
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

/** The files that a reference is read from: its own file, or the `.env` files of its profile; none for a literal. */
export function secretFiles(
  ref: SecretRef,
  context: Pick<SecretContext, 'home' | 'userHome' | 'projectEnv'>,
): readonly string[] {
  if (ref.kind === 'literal' || (ref.scope !== DEFAULT_PROFILE && !PROFILE.test(ref.scope))) return [];
  return ref.kind === 'file' ? [filePath(ref, context)] : variableFiles(ref.scope, context);
}

function homeOf(scope: string, { home }: Pick<SecretContext, 'home'>): string {
  if (scope === DEFAULT_PROFILE) return home;
  if (!PROFILE.test(scope)) throw new SecretError(`invalid profile name "${scope}"`);
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
    : `could not read ${path} (${codeOf(error) ?? 'not readable'})`;
}

/** Maximum size of a secret file or `.env`, in bytes. */
const MAX_SECRET_BYTES = 1024 * 1024;
/** Number of files read at once; each needs a file descriptor. */
const AT_ONCE = 64;
/** Number of secrets reported in one turn of the event loop, which takes a few ms. */
const SECRETS_A_TURN = 200;

/** Sources of secrets on this machine. */
interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The `.env` of a project, which takes precedence over that of the home. It is not read if others can write to it. */
  readonly projectEnv?: string | undefined;
}

/** The folder for `~/`. */
export const userHome = (env: SecretSources['env']): string => env.HOME || homedir();

/** The files of these secrets, existing or not. */
export const secretPaths = (refs: readonly SecretRef[], sources: SecretSources): readonly string[] =>
  pathsOf(refs, locationsOf(sources));

const pathsOf = (refs: readonly SecretRef[], places: SecretLocations): string[] => [
  ...new Set(refs.flatMap((ref) => secretFiles(ref, places))),
];

/** For commands. Create a new resolver if secrets may have changed: a resolver reads each `.env` once. */
export function createSecrets(sources: SecretSources): SecretResolver {
  return createSecretResolver({
    ...locationsOf(sources),
    readFile: (path) => readRegularTextSync(path, MAX_SECRET_BYTES),
  });
}

interface SecretReaderContext {
  readonly sources: SecretSources;
  /** Called with the secrets that were read, which must never be shown. */
  readonly known: (secrets: readonly string[]) => void;
  /** Called with the names of the variables that were read. */
  readonly onRead: (names: ReadonlySet<string>) => void;
  /** Wraps the resolver with further checks. @param host the host on which the server listens */
  readonly check: (secrets: SecretResolver, host: string) => SecretResolver;
}

/**
 * For a server: returns a function that reads the current values of references, reports them, and resolves to their resolver.
 */
export function secretReader({
  sources,
  known,
  onRead,
  check,
}: SecretReaderContext): (refs: readonly SecretRef[], host: string) => Promise<SecretResolver> {
  return async (refs, host) => {
    const resolver = await loadSecrets(refs, locationsOf(sources));
    for (let at = 0; at < refs.length; at += SECRETS_A_TURN) {
      const values = resolvable(refs.slice(at, at + SECRETS_A_TURN), resolver);
      // A driver's error may show the password without the rest of the URL.
      known([...values, ...values.flatMap(passwordsIn)]);
      // A table may have ten thousand secrets, so requests are served in between.
      await setImmediate();
    }
    onRead(secretNames(refs));
    return check(resolver, host);
  };
}

/** The values that can be resolved; missing ones are left out. */
export function resolvable(refs: readonly SecretRef[], secrets: SecretResolver): string[] {
  return refs.flatMap((ref) => {
    try {
      return [secrets.resolve(ref)];
    } catch (error) {
      if (error instanceof SecretError) return [];
      throw error;
    }
  });
}

/** Reads the files of the references into memory. An unreadable file fails when it is resolved. */
async function loadSecrets(refs: readonly SecretRef[], places: SecretLocations): Promise<SecretResolver> {
  const paths = pathsOf(refs, places);
  const texts = new Map<string, string>();
  const failures = new Map<string, unknown>();
  const readNext = async (): Promise<void> => {
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
      const read = path;
      await readRegularText(read, MAX_SECRET_BYTES).then(
        (text) => texts.set(read, text),
        (error: unknown) => failures.set(read, error),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return createSecretResolver({
    ...places,
    readFile: (path) => {
      const text = texts.get(path);
      if (text !== undefined) return text;
      throw failures.get(path) ?? new Error(`${path} was not among the references that were loaded`);
    },
  });
}

type SecretLocations = Omit<SecretContext, 'readFile'>;

const isSafe = (path: string): boolean => !mayOthersWrite(statSync(path, { throwIfNoEntry: false })?.mode ?? 0);

function locationsOf({ env, home, projectEnv }: SecretSources): SecretLocations {
  return {
    env,
    home,
    projectEnv: projectEnv !== undefined && isSafe(projectEnv) ? projectEnv : null,
    userHome: userHome(env),
  };
}
