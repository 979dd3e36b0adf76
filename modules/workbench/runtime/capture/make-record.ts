/** Creates the record of an answered request, without credentials. */

import type { Intake } from '../../../../runtime/intake/intake.ts';
import type { KeptHead } from '../../../../runtime/intake/kept-request.ts';
import { reasonOf } from '../../../../runtime/intake/reason.ts';
import type { Reply } from '../../../../runtime/intake/reply.ts';
import type { StageName } from '../../../../runtime/intake/stage.ts';
import { STAGE_NAMES } from '../../../../runtime/intake/stage.ts';
import type { RefusedRequest } from '../../../../runtime/verify/signature-evidence.ts';
import type { VerifyReason } from '../../../../runtime/verify/verification.ts';
import type { RoutePlan, SchemePlan } from '../../../../schemas/generated/types.ts';
import type { Captured } from './captured.ts';
import type { CredentialPlaces } from './credentials.ts';
import { pathWithoutCredentials, placesOf, withoutCredentials } from './credentials.ts';
import { keptReason } from './kept-reason.ts';

export interface RecordContext {
  readonly places: CredentialPlaces;
  /** By name. */
  readonly schemes: Readonly<Record<string, SchemePlan>>;
  /** Monotonic ms. */
  readonly now: number;
  /** Id of the kept request that this one replays. */
  readonly replayOf: string | null;
}

/** @param number the number in the id of the kept request */
export function makeRecord(number: number, intake: Intake, reply: Reply, context: RecordContext): Captured {
  const wasRead = readsBody(intake.stage);
  return {
    number,
    head: headOf(intake, reply, context, wasRead ? intake.body.length : null),
    body: wasRead ? intake.body : null,
    credentials: bodyPlaces(intake.route.plan, context.schemes),
    refused: refusedOf(intake),
  };
}

const BODY_AT = STAGE_NAMES.indexOf('body');

const readsBody = (stage: StageName | null): boolean => stage === null || STAGE_NAMES.indexOf(stage) > BODY_AT;

function headOf(
  intake: Intake,
  { outcome, status }: Reply,
  { places, now, replayOf }: RecordContext,
  body_bytes: number | null,
): KeptHead {
  const { plan } = intake.route;
  return {
    at: intake.receivedAt,
    profile: plan.profile,
    route: plan.name,
    method: intake.method,
    path: pathWithoutCredentials(intake.url, places),
    headers: withoutCredentials(intake.rawHeaders, places),
    outcome,
    status,
    stage: intake.stage,
    reason: intake.reason,
    about: keptReason(reasonOf(intake)?.about ?? null),
    cause: null,
    event: intake.event,
    delivery_id: intake.deliveryId,
    scheme: intake.scheme === '' ? null : intake.scheme,
    verified: intake.authenticated,
    body_bytes,
    body_sha256: null,
    dispatch_id: intake.stage === 'dispatch' ? (intake.dispatch?.id ?? null) : null,
    replay_of: replayOf,
    ms: Math.round((now - intake.startedAt) * 100) / 100,
  };
}

/** Places in the body where the route's senders put credentials. */
function bodyPlaces(
  { source, schemes: accepted }: RoutePlan,
  schemes: RecordContext['schemes'],
): Captured['credentials'] {
  const names = source === null ? accepted : [source, ...accepted];
  return names
    .flatMap((name) => (Object.hasOwn(schemes, name) ? placesOf(schemes[name] as SchemePlan) : []))
    .flatMap(([at]) => (at.in === 'json' || at.in === 'form' ? [at] : []));
}

function refusedOf(intake: Intake): RefusedRequest | null {
  const { stage, reason, scheme, method, url, headers, rawHeaders, receivedAt, route } = intake;
  if ((stage !== 'signature' && stage !== 'credential') || reason === null || intake.authenticated) return null;
  return {
    ...route.evidence(),
    refused: { ok: false, scheme: scheme === '' ? null : scheme, reason: reason as VerifyReason },
    // The body is sent separately.
    parts: { method, url, headers, rawHeaders, body: NO_BODY },
    now: receivedAt,
  };
}

const NO_BODY = Buffer.alloc(0);
