/** Links one route for an explanation: as a gateway does, except that secrets may be missing. */

import { isLoopback } from '../../../../base/listen-address.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import type { ListFiles } from '../../../../runtime/table/in-file-set.ts';
import { createListOpener } from '../../../../runtime/table/in-file-set.ts';
import type { Authentication } from '../../../../runtime/table/link-authentication.ts';
import { linkAuthentication } from '../../../../runtime/table/link-authentication.ts';
import type { LinkContext, TableHeadPlan } from '../../../../runtime/table/link-context.ts';
import { LinkError, schemeOf } from '../../../../runtime/table/link-context.ts';
import { identityLinker } from '../../../../runtime/table/link-identity.ts';
import { linkRoute } from '../../../../runtime/table/link-route.ts';
import type { Marks } from '../../../../runtime/table/link-template.ts';
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import { RateWindows } from '../../../../runtime/table/rate-limit.ts';
import { linkAuthenticator } from '../../../../runtime/verify/authenticator.ts';
import { schemeLinker } from '../../../../runtime/verify/scheme.ts';
import type { SignatureEvidence } from '../../../../runtime/verify/signature-evidence.ts';
import type { RoutePlan } from '../../../../schemas/generated/types.ts';
import { NO_SECRETS } from './lenient-secrets.ts';
import type { Warnings } from './warnings.ts';

export interface ExplainLinkContext {
  readonly home: string;
  readonly userHome: string;
  readonly files: ListFiles;
  /** Null: signatures are not verified, and no secret is read. */
  readonly secrets: SecretResolver | null;
  /** See LinkContext. */
  readonly marks: Marks | null;
  readonly clock: Clock;
  readonly warnings: Warnings;
}

export interface ExplainedRoute {
  readonly route: LinkedRoute;
  /** Why signatures cannot be verified here, such as a missing secret; null when they can. */
  readonly unverified: string | null;
  /** For finding the cause of a refused signature; null when it cannot be verified. */
  readonly evidence: SignatureEvidence | null;
}

/** Links a static or dynamic route. @throws LinkError when it cannot be served for a reason other than a secret */
export function linkExplained(plan: RoutePlan, table: TableHeadPlan, context: ExplainLinkContext): ExplainedRoute {
  const link = linkContext(table, context);
  const found = context.secrets === null ? NOT_ASKED : tryAuthentication(plan, table, link);
  if (typeof found !== 'string') {
    return { route: linkRoute(plan, found, table, link), unverified: null, evidence: found.evidence() };
  }
  return { route: linkRoute(plan, withoutSecrets(plan, table), table, link), unverified: found, evidence: null };
}

/** The context of a gateway's links; lists are read as it reads them. */
export function linkContext(
  table: TableHeadPlan,
  { home, userHome, files, secrets, marks, clock, warnings }: ExplainLinkContext,
): LinkContext {
  return {
    home,
    secrets: secrets ?? NO_SECRETS,
    windows: new RateWindows(),
    linkScheme: schemeLinker(),
    linkIdentity: identityLinker(table),
    openList: createListOpener({ home, userHome, files, clock, log: warnings.log }),
    marks,
    place: () => null,
    loopback: isLoopback(table.server.host),
    capture: null,
  };
}

const NOT_ASKED = 'no secret was looked for';

/** Returns the authentication, or why it cannot be linked. */
function tryAuthentication(plan: RoutePlan, table: TableHeadPlan, link: LinkContext): Authentication | string {
  try {
    return linkAuthentication(plan, table, link);
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    return error.message;
  }
}

/** An authentication that has the route's schemes but no secrets: only a route that checks no signature verifies. */
function withoutSecrets(plan: RoutePlan, table: TableHeadPlan): Authentication {
  const schemes = plan.schemes.map((name) => schemeOf(name, plan, table));
  const { insecure } = plan;
  return {
    evidence: () => ({ schemes, known: Object.values(table.schemes), secrets: [], publicUrl: null }),
    authenticator: linkAuthenticator({ schemes, secrets: [], insecure, public_url: null }),
    insecure,
    handshake: null,
    awaitsSecret: null,
    deprecated: new Map(),
  };
}
