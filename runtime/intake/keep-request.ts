/** Keeps a request once it is answered, for later inspection; see capture/. */
import type { Intake } from './intake.ts';
import type { Reply } from './reply.ts';

/**
 * Keeps an answered request, if its route wants it and there is room.
 * @param replayOf id of the kept request that it repeats
 * @returns its id; null: it is not kept, or that is not yet known
 */
export type KeepRequest = (intake: Intake, reply: Reply, replayOf?: string | null) => string | null;
