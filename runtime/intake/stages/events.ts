/** Ignores events whose type the route does not accept (§2.1). */
import type { Stage } from '../intake.ts';
import { ignore } from './ignore.ts';

export const matchEvent: Stage = (intake) =>
  intake.route.events.accepts(intake.event) ? null : ignore(intake, 'event');
