/** A work folder that later runs read, of an agent that receives untrusted text (decisions §5). */

import { rule } from '../../../../compiler/rules/support/rule.ts';
import { describePart } from '../untrusted/describe-part.ts';
import { firstReached, nameRoutes } from '../untrusted/reached-routes.ts';

/** Who reads what a run has left, by where it was left. */
const READERS = { route: "the route's next run", shared: 'the next run of any route' } as const;

export const keptWorkFolder = rule('kept-work-folder', {
  agent({ agent: { path, config }, routes }, report) {
    const { command, work = 'run', cwd } = config;
    if (command === undefined || cwd !== undefined || work === 'run') return;
    const reached = firstReached(routes());
    const [first] = reached;
    if (first === undefined) return;
    const message = `${describePart(first.part)} of ${nameRoutes(reached)} reaches an agent whose folder is kept: ${READERS[work]} reads what the text makes it write there`;
    const hint = 'remove `work`, so that each run has a folder of its own, or filter on the author of the text';
    report({ path: [...path, 'work'], at: 'value', message, hint });
  },
});
