/** Runs the script of the route, which may ignore the event or transform its payload (§2.6). */
import type { Intake, Services, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { retryLater } from '../reply.ts';
import type { ScriptOutcome } from '../script-runner.ts';
import { ignore } from './reject.ts';

/** Retry time after a program could not be started, in seconds. */
const BUSY_SECONDS = 5;

export const runScript: Stage = (intake, services) => (intake.route.script === null ? null : run(intake, services));

async function run(intake: Intake, { runScript, log }: Services): Promise<Reply | null> {
  const { plan, script } = intake.route;
  if (script === null) return null;
  const { event, deliveryId, data } = intake;
  const outcome = await runScript({
    script,
    profile: plan.profile,
    route: plan.name,
    event,
    deliveryId,
    payload: data,
  });
  if (outcome.kind === 'ignored' && outcome.failed) {
    log.warn({ route: plan.name, event, delivery_id: deliveryId, reason: outcome.reason }, 'script failed');
  }
  return apply(intake, outcome);
}

function apply(intake: Intake, outcome: ScriptOutcome): Reply | null {
  switch (outcome.kind) {
    case 'payload':
      intake.data = outcome.payload;
      return null;
    case 'text':
      intake.data = withOutput(intake.data, outcome.text);
      return null;
    case 'ignored':
      return ignore(intake, 'script', outcome.reason);
    case 'busy':
      intake.reason = 'script_busy';
      intake.detail = outcome.reason;
      return retryLater('overloaded', BUSY_SECONDS);
  }
}

/** Adds the script's output as a key. A payload that is not an object is put below `payload` first. */
function withOutput(data: unknown, text: string): Record<string, unknown> {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return isObject ? { ...data, script_output: text } : { payload: data, script_output: text };
}
