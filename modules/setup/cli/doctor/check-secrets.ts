/** Checks that the secrets of routes, agents and the gateway exist; those of targets are checked with the targets. */
import type { Check } from '../../../../cli/base/check.ts';
import { agentRefs, gatewayRefs } from '../../../../runtime/deliver/missing-secrets.ts';
import { routeSecretRefs } from '../../../../runtime/platform/secrets/secret-refs.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import { printSecretRef, SecretError } from '../../../../runtime/platform/secrets/secrets.ts';
import type { RouteTable, SecretRef } from '../../../../schemas/generated/types.ts';

interface Use {
  readonly profile: string | null;
  readonly subject: string;
  readonly ref: SecretRef;
}

/** A check for each missing secret, or one that says that none is missing. */
export function checkSecrets(table: RouteTable, secrets: SecretResolver): readonly Check[] {
  const uses = [...uniqueUses(table)];
  const missing = uses.flatMap((use): readonly Check[] => {
    const problem = problemOf(use.ref, secrets);
    if (problem === null) return [];
    const fix = `set ${printSecretRef(use.ref).replace(/^env:/, '')}`;
    return [{ profile: use.profile, subject: use.subject, check: 'secret', status: 'failed', detail: problem, fix }];
  });
  if (missing.length > 0) return missing;
  const detail = uses.length === 0 ? 'none is used' : 'all there';
  return [{ profile: null, subject: 'routes', check: 'secrets', status: 'ok', detail, fix: null }];
}

/** A reference shared by several routes is checked once, for the first route. */
function uniqueUses(table: RouteTable): Iterable<Use> {
  const uses = new Map<string, Use>();
  const add = (use: Use): void => {
    const key = JSON.stringify([use.ref.kind, use.ref.value, use.ref.scope]);
    if (use.ref.kind !== 'literal' && !uses.has(key)) uses.set(key, use);
  };
  if (table.server.secret !== null) add({ profile: null, subject: 'server', ref: table.server.secret });
  for (const route of Object.values(table.routes)) {
    for (const ref of routeSecretRefs(route)) add({ profile: route.profile, subject: `route ${route.name}`, ref });
  }
  for (const use of agentRefs(table)) add({ ...use, subject: 'agent' });
  for (const { where, ref } of gatewayRefs(table)) add({ profile: null, subject: where, ref });
  return uses.values();
}

function problemOf(ref: SecretRef, secrets: SecretResolver): string | null {
  try {
    secrets.resolve(ref);
    return null;
  } catch (error) {
    if (error instanceof SecretError) return error.message;
    throw error;
  }
}
