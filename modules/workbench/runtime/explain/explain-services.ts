/** The services for the stages of an explained request: they have no effect. */
import type { Dispatcher } from '../../../../runtime/dispatch/dispatcher.ts';
import type { Services } from '../../../../runtime/intake/intake.ts';
import type { RunScript, ScriptOutcome } from '../../../../runtime/intake/script-runner.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { Ids } from '../../../../runtime/platform/ids.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import type { Warnings } from './warnings.ts';

export interface ExplainContext {
  /** Without effect: see `createDryDispatcher`. */
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly ids: Ids;
}

interface ServicesInput {
  readonly request: RequestParts;
  /** Null: the script is not run. */
  readonly runScript: RunScript | null;
  readonly warnings: Warnings;
}

/** @param onScript called with the outcome of the script, if it is run */
export function explainServices(
  { request, runScript, warnings }: ServicesInput,
  { dispatcher, clock, ids }: ExplainContext,
  onScript: (outcome: ScriptOutcome) => void,
): Services {
  return {
    clock,
    ids,
    dispatcher,
    log: warnings.log,
    runScript: async (asked) => {
      if (runScript === null) throw new Error('the script stage is left out');
      const outcome = await runScript(asked);
      onScript(outcome);
      return outcome;
    },
    shutdown: { retryAfterSeconds: null },
    overload: { refuses: () => false },
    bodies: {
      read: async (_request, limit) => (request.body.length > limit ? 'too_large' : request.body),
      release: () => {},
    },
    warnDeprecated: ({ deprecated }, scheme) => warnings.deprecated(scheme, deprecated.get(scheme) ?? null),
  };
}
