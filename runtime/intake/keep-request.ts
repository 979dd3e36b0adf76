/** The function that keeps answered requests for later inspection; see capture/. */
import type { Intake } from './intake.ts';
import type { Reply } from './reply.ts';

/**
 * Keeps an answered request, if its route is configured for that and there is room. Returns its id; null when it is not
 * kept, or when that is not known yet.
 * @param replayOf id of the kept request that it repeats
 */
export type KeepRequest = (intake: Intake, reply: Reply, replayOf?: string | null) => string | null;
