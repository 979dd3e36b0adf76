/** Sends a captured request through the stages again, as a new request. Its signature was verified when it arrived. */

import type { Services, StageName } from '../../../../runtime/intake/intake.ts';
import type { StagedRequest } from '../../../../runtime/intake/keeper.ts';
import { giveId } from '../../../../runtime/intake/stages/decide.ts';
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import type { KeptRequest } from '../../../../schemas/built/operations/types.ts';
import { createIntake } from '../explain/explain-services.ts';
import { requestParts, whyUnverified } from './requests.ts';

/** Stages that are skipped, because they were decided when the request arrived: its sender, and that it is not a handshake. */
const DECIDED: ReadonlySet<StageName> = new Set([
  'origin',
  'probe',
  'credential',
  'handshake',
  'signature',
  'challenge',
]);

/** Returns why a captured request cannot be replayed; null if it can. */
export function whyNotReplayable(captured: KeptRequest): string | null {
  const { verified, outcome, body } = captured;
  if (!verified) return whyUnverified(captured);
  if (outcome === 'challenge') return 'the request is not an event: the sender verified the URL';
  return body === null ? 'the body was not captured' : null;
}

/** Prepares the replay of a request for which `whyNotReplayable` returns null. It does not count against the rate limit. */
export function replayRequest(captured: KeptRequest, route: LinkedRoute, services: Services): StagedRequest {
  const parts = requestParts(captured);
  const intake = createIntake(parts, route, services.clock);
  intake.cameAt = captured.at;
  intake.authenticated = true;
  intake.scheme = captured.scheme ?? '';
  return {
    intake,
    services: {
      ...services,
      bodies: { read: async () => parts.body, readArrived: async () => parts.body, release: () => {} },
    },
    watcher: {
      skips: (stage) => DECIDED.has(stage),
      passed: (stage, _reply, event) => {
        // With the old id or the replay guard, the event would be a duplicate.
        if (stage === 'identify') giveId(event, services.ids.delivery(event.receivedAt), true);
      },
    },
  };
}
