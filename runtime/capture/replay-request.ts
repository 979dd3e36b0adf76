/** Sends a kept request through the stages again: a new request whose signature was checked when the kept one came. */
import { createIntake } from '../explain/unconnected.ts';
import type { Replay } from '../intake/handler.ts';
import type { Intake, Services } from '../intake/intake.ts';
import type { StageName } from '../intake/stage.ts';
import type { LinkedRoute } from '../table/linked-table.ts';
import type { KeptRequest } from './kept-request.ts';
import { requestParts } from './request-parts.ts';

/** Decided when it came: who the sender is, and that it was no handshake. */
const DECIDED: ReadonlySet<StageName> = new Set([
  'origin',
  'probe',
  'credential',
  'handshake',
  'signature',
  'challenge',
]);

/** Why it cannot be sent again; null: it can. */
export function whyNotReplayable({ verified, outcome, body }: KeptRequest): string | null {
  if (!verified) return 'it had no valid signature';
  if (outcome === 'challenge') return "it was its sender's check of the URL, no event";
  return body === null ? 'its body is not kept' : null;
}

/** One that `whyNotReplayable` has nothing against. It takes nothing from what its route may have in a minute. */
export function replayRequest(kept: KeptRequest, route: LinkedRoute, services: Services): Replay {
  const parts = requestParts(kept);
  const intake = createIntake(parts, route, services.clock);
  intake.authenticated = true;
  intake.scheme = kept.scheme ?? '';
  return {
    intake,
    services: { ...services, bodies: { read: async () => parts.body, release: () => {} } },
    watcher: {
      skips: (stage) => DECIDED.has(stage),
      passed: (stage) => {
        if (stage === 'identify') giveNewId(intake, services);
      },
    },
  };
}

/** Under its old id it would be a duplicate. */
function giveNewId(intake: Intake, { ids }: Services): void {
  intake.deliveryId = ids.delivery(intake.receivedAt);
  if (intake.claim !== null) intake.claim = { ...intake.claim, delivery_id: intake.deliveryId, generated: true };
}
