/** The Rule of Two: no agent reads strangers' text, reaches private data and acts, unless a person approves. */
import { rule } from '../../../../compiler/rules/support/rule.ts';
import type { Reach } from '../../../../compiler/views/views.ts';
import { reachOf } from '../untrusted/reach.ts';

export const ruleOfTwo = rule('rule-of-two', {
  route(route, report) {
    if (route.config.accept_untrusted !== undefined) return;
    const { A, B, C } = reachOf(route);
    const open = C.filter(({ approved }) => approved !== true);
    const [a] = A;
    const [b] = B;
    const [c] = open;
    if (a === undefined || b === undefined || c === undefined) return;
    const message = `an agent reads text of strangers, reaches private data and acts: (A) ${a.what}; (B) ${b.what}; (C) ${c.what}`;
    const hint = `drop one of the three: ${waysOut({ A, B, C: open })}`;
    const related = (
      [
        ['B', b],
        ['C', c],
      ] as const
    ).flatMap(([letter, { at, what }]) => (at === undefined ? [] : [{ ...at, message: `(${letter}) ${what}` }]));
    const place = a.at ?? { path: [] };
    report({ ...place, at: place.path.length === 0 ? 'key' : 'value', message, hint, related });
  },
});

/** A longer way is not cheap. */
const MOST_STEPS = 3;

/** The ways to drop a letter, the one with the fewest changes first. */
function waysOut(reach: Reach): string {
  const ways = Object.values(reach).map((places) => [...new Set(places.map(({ way }) => way))]);
  ways.sort((a, b) => a.length - b.length);
  const shown = ways.filter(({ length }, at) => at === 0 || length <= MOST_STEPS).map((steps) => steps.join(' and '));
  return [...new Set(shown)].join('; or ');
}
