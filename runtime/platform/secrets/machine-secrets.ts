/** Resolves secret references on this machine: at once for a command, without blocking for a server. */
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { mayOthersWrite } from '../../../base/env-lines.ts';
import { passwordsIn } from '../../../base/postgres-url.ts';
import { readRegularText, readRegularTextSync } from '../../../base/read-regular-file.ts';
import type { SecretRef } from '../../../schemas/generated/types.ts';
import { secretNames } from './secret-refs.ts';
import type { SecretContext } from './secret-resolver.ts';
import { createSecretResolver, secretFiles } from './secret-resolver.ts';
import type { SecretResolver } from './secrets.ts';
import { SecretError } from './secrets.ts';

/** Largest secret file or `.env` that is read, in bytes. */
const MAX_SECRET_BYTES = 1024 * 1024;
/** Files that are read at once; each needs a file descriptor. */
const AT_ONCE = 64;
/** Secrets reported in one turn of the event loop, which takes a few ms. */
const SECRETS_A_TURN = 200;

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The `.env` of a project, which wins over that of the home. It is not read if others can write to it. */
  readonly projectEnv?: string | undefined;
}

/** The folder that `~/` stands for. */
export const userHome = (env: SecretSources['env']): string => env.HOME || homedir();

/** The files that hold these secrets, existing or not. */
export const secretPaths = (refs: readonly SecretRef[], sources: SecretSources): readonly string[] =>
  pathsOf(refs, placesOf(sources));

const pathsOf = (refs: readonly SecretRef[], places: Places): string[] => [
  ...new Set(refs.flatMap((ref) => secretFiles(ref, places))),
];

/** For commands. Create a new resolver when secrets may have changed: a resolver reads each `.env` once. */
export function createSecrets(sources: SecretSources): SecretResolver {
  return createSecretResolver({
    ...placesOf(sources),
    readFile: (path) => readRegularTextSync(path, MAX_SECRET_BYTES),
  });
}

export interface SecretReaderContext {
  readonly sources: SecretSources;
  /** Called with the secrets that were read, which must never be shown. */
  readonly known: (secrets: readonly string[]) => void;
  /** Called with the names of the variables that were read. */
  readonly onRead: (names: ReadonlySet<string>) => void;
  /** Wraps the resolver with further checks. @param host the host on which the server listens */
  readonly check: (secrets: SecretResolver, host: string) => SecretResolver;
}

/** For a server: returns a function that reads the current values of references, reports them and resolves to their resolver. */
export function secretReader({
  sources,
  known,
  onRead,
  check,
}: SecretReaderContext): (refs: readonly SecretRef[], host: string) => Promise<SecretResolver> {
  return async (refs, host) => {
    const resolver = await loadSecrets(refs, placesOf(sources));
    for (let at = 0; at < refs.length; at += SECRETS_A_TURN) {
      const values = resolvable(refs.slice(at, at + SECRETS_A_TURN), resolver);
      // A driver's error may show the password without the rest of the URL.
      known([...values, ...values.flatMap(passwordsIn)]);
      // A table may have ten thousand secrets: serve requests in between.
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

/** Reads the files behind the references into memory. A file that cannot be read fails when it is resolved. */
async function loadSecrets(refs: readonly SecretRef[], places: Places): Promise<SecretResolver> {
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

type Places = Omit<SecretContext, 'readFile'>;

const isSafe = (path: string): boolean => !mayOthersWrite(statSync(path, { throwIfNoEntry: false })?.mode ?? 0);

function placesOf({ env, home, projectEnv }: SecretSources): Places {
  return {
    env,
    home,
    projectEnv: projectEnv !== undefined && isSafe(projectEnv) ? projectEnv : null,
    userHome: userHome(env),
  };
}
