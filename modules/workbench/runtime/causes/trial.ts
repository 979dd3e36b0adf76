/** Verifies a signature with a given plan, secret and URL, ignoring its age. */

import { linkAuthenticator } from '../../../../runtime/verify/authenticator.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import { LazyRequest } from '../../../../runtime/verify/request.ts';
import type { Verification } from '../../../../runtime/verify/verification.ts';
import type { SchemePlan } from '../../../../schemas/generated/types.ts';

export interface Trial {
  readonly plan: SchemePlan;
  readonly parts: RequestParts;
  readonly secret: string;
  /** As the sender has it; null: not known. */
  readonly url: string | null;
}

/** In seconds. A recorded request is stale, and a timestamp in ms that is read as seconds is far in the future. */
const ANY_AGE = Number.POSITIVE_INFINITY;

/** Verifies the request of a trial. */
export function tryTrial({ plan, parts, secret, url }: Trial): Verification {
  const ageless = plan.timestamp === null ? plan : { ...plan, timestamp: { ...plan.timestamp, tolerance: ANY_AGE } };
  const secrets = [{ text: secret, expires_at: null }];
  const authenticator = linkAuthenticator({ schemes: [ageless], secrets, insecure: false, public_url: url });
  return authenticator.authenticate(new LazyRequest(parts), 0);
}
