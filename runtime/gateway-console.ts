/** Opens the console, the second listener, if the table has one; its code is loaded only then. */
import type { RouteTable, SecretRef } from '../schemas/generated/types.ts';
import type { ConsoleContext } from './console/console-server.ts';
import type { SecretResolver } from './platform/secrets/secrets.ts';
import { SecretError } from './platform/secrets/secrets.ts';
import { TableError } from './table/load.ts';

export interface OpenConsole {
  readonly url: string;
  close(): Promise<void>;
}

export interface ConsoleParts extends Omit<ConsoleContext, 'token'> {
  readonly secrets: (refs: readonly SecretRef[], host: string) => Promise<SecretResolver>;
}

/** Null when the table has no console. Rejects with TableError for its token, ListenError for its address. */
export async function openConsole(
  { gateway: { console: plan } }: RouteTable,
  { secrets, ...parts }: ConsoleParts,
): Promise<OpenConsole | null> {
  if (plan === null) return null;
  const token = plan.token === null ? null : resolveToken(plan.token, await secrets([plan.token], plan.host));
  const { ConsoleServer } = await import('./console/console-server.ts');
  const server = new ConsoleServer({ ...parts, token });
  const url = await server.listen(plan);
  parts.log.info({ console: url }, 'console listening');
  return { url, close: () => server.close() };
}

function resolveToken(token: SecretRef, secrets: SecretResolver): string {
  try {
    return secrets.resolve(token);
  } catch (error) {
    if (error instanceof SecretError) throw new TableError(`gateway.console.token: ${error.message}`);
    throw error;
  }
}
