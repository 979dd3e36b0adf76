/** Authenticates the requests of one route: selects the scheme that decides, and verifies with it. */
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { SharedKeys } from './primitives.ts';
import type { SignedRequest } from './request.ts';
import type { LinkedScheme, SecretText } from './scheme.ts';
import { BoundScheme, linkScheme } from './scheme.ts';
import type { Refused, Verification } from './verification.ts';

export interface Authenticator {
  /** The schemes that the route accepts, in the order in which they are tried; empty if it verifies nothing. */
  readonly schemes: readonly SchemePlan[];
  /** Never throws, whatever the headers contain. @param now Unix time in ms */
  authenticate(request: SignedRequest, now: number): Verification;
  /**
   * For a request whose body has not been read: null if it may be authentic, for example because the signature is in the body;
   * otherwise the result of `authenticate` for any body. @param now Unix time in ms
   */
  refuseByHead(request: SignedRequest, now: number): Refused | null;
  /** Indexes of secrets that one of the route's schemes cannot use as a key, which prevents the start. */
  readonly unusable: readonly number[];
}

interface AuthenticatorPlan {
  /** Tried in this order: the first whose signature is present decides, without fallback (§5). */
  readonly schemes: readonly SchemePlan[];
  readonly secrets: readonly SecretText[];
  /** INSECURE_NO_AUTH. */
  readonly insecure: boolean;
  /** The route's URL as the sender knows it. */
  readonly public_url: string | null;
}

const INSECURE: Verification = { ok: true, scheme: 'none', secret: -1 };
const NO_SIGNATURE: Refused = { ok: false, scheme: null, reason: 'missing_signature' };

/**
 * Links the schemes of a route, with its secrets as their keys.
 * @param link links one plan; a table with many routes passes one `schemeLinker()` to all of them
 */
export function linkAuthenticator(
  plan: AuthenticatorPlan,
  link: (plan: SchemePlan) => LinkedScheme = linkScheme,
): Authenticator {
  if (plan.insecure) return { schemes: [], authenticate: () => INSECURE, refuseByHead: () => null, unusable: [] };
  const shared: SharedKeys = new Map();
  const schemes = plan.schemes.map((scheme) => new BoundScheme(link(scheme), plan.secrets, plan.public_url, shared));
  const unusable = plan.secrets.flatMap((_secret, index) =>
    schemes.some((scheme) => scheme.canUse(index)) ? [] : [index],
  );
  const [only, ...others] = schemes;
  // With one scheme, a missing signature is reported as missing from that scheme.
  const single = only !== undefined && others.length === 0 ? only : null;
  return {
    schemes: plan.schemes,
    unusable,
    refuseByHead: (request, now) => {
      for (const scheme of schemes) {
        if (scheme.needsBody) return null;
        if (scheme === single || scheme.present(request)) return scheme.refuseByHead(request, now);
      }
      return NO_SIGNATURE;
    },
    authenticate:
      single !== null
        ? (request, now) => single.verify(request, now)
        : (request, now) => {
            for (const scheme of schemes) if (scheme.present(request)) return scheme.verify(request, now);
            return NO_SIGNATURE;
          },
  };
}
