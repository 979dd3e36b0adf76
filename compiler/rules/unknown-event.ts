/** An event that the source does not document. */

import { entryMatcher, sentFor } from '../config/event-names.ts';
import { flowText } from '../text/flow-text.ts';
import { certainMatch, editDistance, oneOf, suggest } from '../text/suggest.ts';
import type { Reported, Reporter, RouteView } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const unknownEvent = rule('unknown-event', {
  route(route, report) {
    const { config, facts } = route;
    const { events = [] } = config;
    const joined = joinedEntries(events);
    joined.forEach(report);
    if (joined.length > 0) return;
    const documented = facts?.events ?? [];
    // The config's own shape may not contain every event, so it is only used for suggestions.
    const shaped = documented.length > 0 ? [] : (route.scope.payloads?.shapedEvents(route) ?? []);
    const known = documented.length > 0 ? documented : shaped;
    if (config.source === undefined) checkWithoutSource(route, report);
    if (config.source === undefined || known.length === 0) return;
    for (const [index, entry] of events.entries()) {
      // Another rule reports invalid globs.
      if (entryMatcher(entry) === null || sentFor(entry, { events: known, event_names: route.eventNames }) !== null)
        continue;
      if (shaped.length > 0 && !isSlip(entry, shaped)) continue;
      const at = { path: ['events', index], at: 'value' } as const;
      const withAction = eventWithAction(route, entry, known);
      if (withAction !== null) {
        report({ ...at, ...withAction });
        continue;
      }
      const { names, isCertain } = eventMeant(entry, known);
      const sends = names.length === 0 ? '' : `: it sends ${oneOf(names, 'and')}`;
      const message = `\`${config.source}\` documents no event \`${entry}\`${sends}`;
      const repair: Pick<Reported, 'fix' | 'hint'> = isCertain
        ? { fix: { kind: 'rename', text: names.join() } }
        : { hint: `\`hookwright source show ${config.source}\` lists its events` };
      report({ ...at, message, ...repair });
    }
  },
});

/** `issues - pull_request`: no sender has such a name. */
function joinedEntries(events: readonly string[]): readonly Reported[] {
  return events.flatMap((entry, index): readonly Reported[] => {
    if (!/\S - \S/.test(entry)) return [];
    const message = `\`${entry}\` is one entry, because its second line is indented further: align the dashes`;
    const hint = `write \`events: ${flowText(entry.split(' - ').map((name) => name.trim()))}\``;
    return [{ path: ['events', index], at: 'value', message, hint }];
  });
}

const MAX_SUGGESTIONS = 4;

interface MeantEvent {
  readonly names: readonly string[];
  /** Whether there is exactly one name, which must be meant. */
  readonly isCertain: boolean;
}

function eventMeant(entry: string, known: readonly string[]): MeantEvent {
  const exact = sameWord(entry, known) ?? certainMatch(entry, known);
  if (exact !== null) return { names: [exact], isCertain: true };
  // `invoice.payment_failed` for `payment_failed`; events with similar spelling are different ones.
  const longer = known.filter((event) => event.toLowerCase().endsWith(`.${entry.toLowerCase()}`));
  if (longer.length > 0) return { names: longer.slice(0, MAX_SUGGESTIONS), isCertain: longer.length === 1 };
  return { names: suggest(entry, known).slice(0, 1), isCertain: false };
}

/** Whether at most a quarter of the letters are wrong: `order` is not a typo of `other`. */
function isSlip(entry: string, known: readonly string[]): boolean {
  const meant = certainMatch(entry, known);
  return meant !== null && editDistance(entry, meant, entry.length) * LETTERS_PER_SLIP <= entry.length;
}

const LETTERS_PER_SLIP = 4;

/** Fields that contain the action of an event. */
const ACTIONS: readonly (readonly string[])[] = [['action'], ['object_attributes', 'action']];

/** `pull_request.opened`: an event with a value of its `action`. */
function eventWithAction(
  route: RouteView,
  entry: string,
  known: readonly string[],
): Pick<Reported, 'message' | 'hint' | 'fix' | 'fixAt'> | null {
  const [, name = '', action = ''] = /^([\w ]+)[.:/]([a-z_]+)$/.exec(entry) ?? [];
  const event = known.find((one) => one === name) ?? sameWord(name, known);
  if (name === '' || event === undefined) return null;
  const field = ACTIONS.find((path) => route.scope.payloads?.hasPath(route, event, path) === true)?.join('.');
  const message = `\`${route.config.source}\` sends \`${event}\``;
  if (field === undefined)
    return { message: `${message}, and no event \`${entry}\``, fix: { kind: 'rename', text: event } };
  const filters = `filters: [{ field: ${field}, equals: ${action} }]`;
  const isAlone = route.config.events?.length === 1 && route.config.filters === undefined;
  return {
    message: `${message}, with \`${action}\` as its \`${field}\`: write \`events: [${event}]\` and \`${filters}\``,
    ...(isAlone ? { fix: { kind: 'flow', text: `[${event}]`, andKey: filters }, fixAt: ['events'] } : {}),
  };
}

/** `pull_request.opened` on a route without a source. An event with two words identifies its sender. */
function checkWithoutSource(route: RouteView, report: Reporter): void {
  for (const [index, entry] of (route.config.events ?? []).entries()) {
    const [, name = ''] = /^([a-z]+_[a-z_]+)[.:/][a-z_]+$/.exec(entry) ?? [];
    const source = name === '' ? null : (route.scope.payloads?.senderOf(route, name) ?? null);
    if (source === null) continue;
    const problem = eventWithAction({ ...route, config: { ...route.config, source } }, entry, [name]);
    if (problem !== null) report({ path: ['events', index], at: 'value', ...problem });
  }
}

/** The same name in the sender's spelling: `merge_request` for `Merge Request Hook`, `issue` for `Issue`. */
function sameWord(entry: string, known: readonly string[]): string | undefined {
  const letters = (text: string): string =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '')
      .replace(/(hook|events?)$/, '');
  const wanted = letters(entry);
  const found = known.find((event) => letters(event) === wanted);
  return found ?? known.find((event) => letters(event) === wanted.replace(/s$/, ''));
}
