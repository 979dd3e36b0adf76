/** The secrets that a route names itself. */
import { DEFAULT_PROFILE } from '../../../base/profiles.ts';
import type { SecretRef } from '../../../schemas/generated/types.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { parseSecretRef } from '../../text/secret-ref.ts';
import type { RouteView } from '../../views/views.ts';

export interface PlacedSecret {
  readonly ref: SecretRef;
  readonly path: NodePath;
}

/** Signing secrets, and the token of the sender's handshake; not what the route inherits. */
export function writtenSecrets({ config: { verify_token }, secrets }: RouteView): readonly PlacedSecret[] {
  const own = secrets.flatMap(({ ref, path }) => (path === null ? [] : [{ ref, path }]));
  if (verify_token === undefined) return own;
  return [...own, { ref: parseSecretRef(verify_token, DEFAULT_PROFILE), path: ['verify_token'] }];
}
