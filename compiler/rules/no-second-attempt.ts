/** A direct delivery that nothing retries. */

import { labelOf } from '../../base/label.ts';
import type { SourceFacts } from '../../schemas/generated/types.ts';
import { sentFor } from '../config/event-names.ts';
import { oneOf } from '../text/suggest.ts';
import type { RouteView } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const noSecondAttempt = rule('no-second-attempt', {
  route(route, report) {
    if (route.mode !== 'direct') return;
    const senders = possibleSenders(route);
    if (senders.size === 0 || [...senders.values()].some((facts) => facts?.attempts !== 1)) return;
    const verb = senders.size === 1 ? 'retries' : 'retry';
    const message = `${oneOf([...senders.keys()], 'and')} never ${verb} a failed delivery: messages that the target rejects are lost`;
    const hint = '`agent: none` instead of `deliver_only` stores the message and retries its delivery';
    report({ path: ['deliver_only'], at: 'key', message, hint });
  },
});

/** The source, or the senders whose signatures the route accepts and that document all of its events, by name. */
function possibleSenders({
  config,
  facts,
  schemes,
  scope,
}: RouteView): ReadonlyMap<string, SourceFacts | null | undefined> {
  if (config.source !== undefined) return new Map([[config.source, facts]]);
  const accepted = schemes.map((scheme) => [labelOf(scheme), scope.table.source_facts[scheme.name]] as const);
  const { events = [] } = config;
  return new Map(accepted.filter(([, own]) => events.every((entry) => sentFor(entry, own) !== null)));
}
