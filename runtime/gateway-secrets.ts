/** Reads the secrets of a table, and makes them known to the log's redactor. */
import { setImmediate } from 'node:timers/promises';
import type { SecretRef } from '../schemas/generated/types.ts';
import type { Redactor } from './deliver/redact.ts';
import { secretNames } from './dispatch/agents/secret-names.ts';
import type { SecretSources } from './platform/machine-secrets.ts';
import { loadSecretsOf, resolvable } from './platform/machine-secrets.ts';
import type { SecretResolver } from './secrets.ts';

/** So many secrets are made known to the redactor in one turn of the event loop: a few ms. */
const SECRETS_A_TURN = 200;

/** @param onRead called with the names of the variables that were read */
export function secretReader(
  sources: SecretSources,
  redactor: Redactor,
  onRead: (names: ReadonlySet<string>) => void,
): (refs: readonly SecretRef[]) => Promise<SecretResolver> {
  return async (refs) => {
    const resolver = await loadSecretsOf(sources, refs);
    for (let at = 0; at < refs.length; at += SECRETS_A_TURN) {
      redactor.add(resolvable(refs.slice(at, at + SECRETS_A_TURN), resolver));
      // A table may have ten thousand: requests come in between.
      await setImmediate();
    }
    onRead(secretNames(refs));
    return resolver;
  };
}
