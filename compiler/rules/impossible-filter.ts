/** A condition that no event of the route can meet. */
import { payloadProblems } from './support/payload.ts';
import type { Rule } from './support/rule.ts';

export const impossibleFilter: Rule = {
  id: 'impossible-filter',
  severity: 'warning',
  title: 'A filter compares a field with a value it never has, or contradicts the filters before it.',
  why: 'The route stays silent, or the condition has no effect. Which values a field may have is known where it is certain which events come (see `unknown-payload-path`); conditions that contradict each other are found everywhere.',
  checkRoute: (route) => payloadProblems(route, 'impossible-filter'),
};
