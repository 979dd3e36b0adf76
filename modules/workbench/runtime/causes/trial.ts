/** Verifies a signature with any plan, secret and URL, and ignores its age. */

import { linkAuthenticator } from '../../../../runtime/verify/authenticator.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import { LazyRequest } from '../../../../runtime/verify/request.ts';
import type { Verification } from '../../../../runtime/verify/verification.ts';
import type { SchemePlan } from '../../../../schemas/generated/types.ts';

export interface Trial {
  readonly plan: SchemePlan;
  readonly parts: RequestParts;
  readonly secret: string;
  /** The URL as configured at the sender; null: unknown. */
  readonly url: string | null;
}

/** In seconds. Captured requests are old, and a timestamp in ms that is read as seconds is far in the future. */
const ANY_AGE = Number.POSITIVE_INFINITY;

/** Verifies the request of a trial. */
export function tryTrial({ plan, parts, secret, url }: Trial): Verification {
  const ageless = plan.timestamp === null ? plan : { ...plan, timestamp: { ...plan.timestamp, tolerance: ANY_AGE } };
  const secrets = [{ text: secret, expires_at: null }];
  const authenticator = linkAuthenticator({ schemes: [ageless], secrets, insecure: false, public_url: url });
  return authenticator.authenticate(new LazyRequest(parts), 0);
}
