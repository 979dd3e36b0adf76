/** The signatures of a machine, by its keys. */
import type { Clock } from '../../../runtime/platform/clock.ts';
import type { SecretResolver } from '../../../runtime/platform/secrets/secrets.ts';
import type { PostgresStorePlan, SecretRef } from '../../../schemas/generated/types.ts';
import { seenVersions } from './seen-versions.ts';
import { Signatures } from './signatures.ts';

/** The keys are read at once, because a server forgets its variables; one that is missing is reported when it is needed. */
export function signaturesOf(
  { home, clock }: { readonly home: string; readonly clock: Clock },
  { key, table_key }: Pick<PostgresStorePlan, 'key' | 'table_key'>,
  secrets: SecretResolver,
): Signatures {
  const keys = { key: read(key, secrets), tableKey: read(table_key, secrets) };
  return new Signatures(keys, seenVersions(home), () => clock.now());
}

function read(ref: SecretRef | null, secrets: SecretResolver): () => string | null {
  if (ref === null) return () => null;
  try {
    const text = secrets.resolve(ref);
    return () => text;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
