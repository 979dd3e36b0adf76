/** The scripts and the secrets that a route names. */
import { join } from 'node:path';
import { DEFAULT_PROFILE } from '../../../base/names.ts';
import type { SecretRef } from '../../../schemas/generated/types.ts';
import { scriptPath, scriptsFolder } from '../../config/route-keys.ts';
import type { NodePath } from '../../diagnostics/diagnostic.ts';
import { parseSecretRef } from '../../text/secret-ref.ts';
import type { RouteView, ScriptState } from '../../views/views.ts';

/** Looks up the state of a route's script, for the two rules about scripts. */
export function scriptState(route: RouteView): ScriptState {
  const { facts } = route.scope;
  const home = route.profilePlan?.home ?? '';
  const path = scriptPath(route.config.script ?? '', scriptsFolder(join(facts.home, home)));
  return path === null ? 'outside' : facts.script(home, path);
}

/** A secret that a route sets itself. */
export interface PlacedSecret {
  readonly ref: SecretRef;
  readonly path: NodePath;
}

/** Signing secrets and the token of the sender's handshake, without inherited ones. */
export function writtenSecrets({ config: { verify_token }, secrets }: RouteView): readonly PlacedSecret[] {
  const own = secrets.flatMap(({ ref, path }) => (path === null ? [] : [{ ref, path }]));
  if (verify_token === undefined) return own;
  return [...own, { ref: parseSecretRef(verify_token, DEFAULT_PROFILE), path: ['verify_token'] }];
}
