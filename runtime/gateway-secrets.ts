/** Reads the secrets of a table and adds them to the redactor. */
import { setImmediate } from 'node:timers/promises';
import { passwordsIn } from '../base/postgres-url.ts';
import type { SecretRef } from '../schemas/generated/types.ts';
import type { Redactor } from './deliver/redact.ts';
import { secretNames } from './dispatch/agents/secret-names.ts';
import type { SecretSources } from './platform/secrets/machine-secrets.ts';
import { loadSecretsOf, resolvable } from './platform/secrets/machine-secrets.ts';
import type { SecretResolver } from './platform/secrets/secrets.ts';

/** Secrets added in one turn of the event loop, which takes a few ms. */
const SECRETS_A_TURN = 200;

export interface SecretReaderContext {
  readonly sources: SecretSources;
  readonly redactor: Redactor;
  /** Called with the names of the variables that were read. */
  readonly onRead: (names: ReadonlySet<string>) => void;
  /** Wraps the resolver with further checks. @param host the host on which the server listens */
  readonly check: (secrets: SecretResolver, host: string) => SecretResolver;
}

/** Returns a function that reads references, adds their values to the redactor and resolves to their resolver. */
export function secretReader({
  sources,
  redactor,
  onRead,
  check,
}: SecretReaderContext): (refs: readonly SecretRef[], host: string) => Promise<SecretResolver> {
  return async (refs, host) => {
    const resolver = await loadSecretsOf(sources, refs);
    for (let at = 0; at < refs.length; at += SECRETS_A_TURN) {
      const values = resolvable(refs.slice(at, at + SECRETS_A_TURN), resolver);
      redactor.add(values);
      // A driver's error may show the password without the rest of the URL.
      redactor.add(values.flatMap(passwordsIn));
      // A table may have ten thousand secrets: serve requests in between.
      await setImmediate();
    }
    onRead(secretNames(refs));
    return check(resolver, host);
  };
}
