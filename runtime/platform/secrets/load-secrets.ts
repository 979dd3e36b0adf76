/** Reads the files behind secret references without blocking, so that linking resolves them from memory. */
import type { SecretRef } from '../../../schemas/generated/types.ts';
import type { SecretContext } from './secret-resolver.ts';
import { createSecretResolver, secretFiles } from './secret-resolver.ts';
import type { SecretResolver } from './secrets.ts';

export interface SecretLoaderContext extends Omit<SecretContext, 'readFile'> {
  /** Rejects as node:fs/promises does. */
  readonly readFile: (path: string) => Promise<string>;
}

/** Files that are read at once; each needs a file descriptor. */
const AT_ONCE = 64;

/** Resolves to a resolver with the current values of these references. A file that cannot be read fails when it is resolved. */
export async function loadSecrets(refs: readonly SecretRef[], context: SecretLoaderContext): Promise<SecretResolver> {
  const paths = [...new Set(refs.flatMap((ref) => secretFiles(ref, context)))];
  const texts = new Map<string, string>();
  const failures = new Map<string, unknown>();
  const readNext = async (): Promise<void> => {
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
      const read = path;
      await context.readFile(read).then(
        (text) => texts.set(read, text),
        (error: unknown) => failures.set(read, error),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return createSecretResolver({
    ...context,
    readFile: (path) => {
      const text = texts.get(path);
      if (text !== undefined) return text;
      throw failures.get(path) ?? new Error(`${path} was not among the references that were loaded`);
    },
  });
}
