/** The URL of the shared database, from the reference in the configuration. */
import { isPostgresUrl } from '../../../base/net.ts';
import type { SecretResolver } from '../../../runtime/platform/secrets.ts';
import { SecretError } from '../../../runtime/platform/secrets.ts';
import { StoreRefused } from '../../../runtime/store/contract.ts';
import type { SecretRef } from '../../../schemas/generated/types.ts';

/** @throws StoreRefused when the value is not a URL; the message does not contain it */
export function databaseUrl(url: SecretRef, secrets: SecretResolver): string {
  const text = resolveUrl(url, secrets);
  if (isPostgresUrl(text)) return text;
  const what = url.kind === 'literal' ? 'the value' : `the value of ${url.kind}:${url.value}`;
  throw new StoreRefused(`gateway.store.postgres: ${what} is not a URL such as postgres://user:password@host/database`);
}

function resolveUrl(url: SecretRef, secrets: SecretResolver): string {
  try {
    return secrets.resolve(url);
  } catch (error) {
    if (error instanceof SecretError) throw new StoreRefused(`gateway.store.postgres: ${error.message}`);
    throw error;
  }
}
