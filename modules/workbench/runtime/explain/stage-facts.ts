/** Reads what a stage found from the intake, in addition to its result, for an explanation. */

import type { Intake } from '../../../../runtime/intake/intake.ts';
import { reasonOf, schemeLabel, signaturePlaces } from '../../../../runtime/intake/reason.ts';
import type { StageName } from '../../../../runtime/intake/stage.ts';
import { eventEntries } from '../../../../runtime/table/link-events.ts';
import type { ExplainedStage } from '../../../../schemas/generated/types.ts';

type Facts = Omit<ExplainedStage, 'stage' | 'result' | 'reason'>;

const FACTS: Readonly<Partial<Record<StageName, (intake: Intake) => Facts>>> = {
  credential: signatureFacts,
  signature: signatureFacts,
  event: ({ event, route }) => {
    const { events } = route.plan;
    return events === null ? {} : { accepts: eventEntries(events), matched: route.events.entryFor(event) };
  },
};

/** The facts about a stage that has just run. */
export function stageFacts(stage: StageName, intake: Intake): Facts {
  const about = intake.stage === stage ? reasonOf(intake)?.about : null;
  const detail = about?.kind === 'text' ? { detail: about.text } : {};
  return { ...FACTS[stage]?.(intake), ...detail };
}

function signatureFacts(intake: Intake): Facts {
  if (intake.route.insecure) return {};
  const { lookedFor, ageSeconds } = signaturePlaces(intake);
  return {
    scheme: schemeLabel(intake),
    looked_for: [...lookedFor],
    ...(intake.authenticated && intake.secret > 0 ? { secret: intake.secret } : {}),
    ...(ageSeconds === null ? {} : { age_seconds: ageSeconds }),
  };
}
