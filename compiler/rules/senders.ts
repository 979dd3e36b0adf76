/** Rules about senders: their events, retries and handshakes. */

import { editDistance } from '../../base/edit-distance.ts';
import { isLoopback } from '../../base/net.ts';
import { schemeLabel } from '../../base/text.ts';
import type { SchemePlan, SourceFacts } from '../../schemas/generated/types.ts';
import { entryMatcher, matchingEvent } from '../config/route-keys.ts';
import { flowText } from '../text/plain-data.ts';
import { certainMatch, certainName, oneOf, suggest } from '../text/suggest.ts';
import type { Reported, Reporter, RouteView } from '../views/views.ts';
import { printDuration, rule } from './support/rule.ts';

/** Delivery ids that are forgotten while the sender may still retry. */
export const idempotencyWindow = rule('idempotency-window', {
  route({ config, facts }, report) {
    const { idempotency_ttl_seconds: ttl } = config;
    const horizon = facts?.horizon_seconds ?? 0;
    if (ttl === undefined || ttl >= horizon) return;
    const message = `\`${config.source}\` retries for up to ${printDuration(horizon)}; ids are forgotten after ${printDuration(ttl)}`;
    const hint = `remove the key, or set it to ${horizon} or more`;
    report({ path: ['idempotency_ttl_seconds'], at: 'value', message, hint });
  },
});

/** A handshake without its token. */
export const missingVerifyToken = rule('missing-verify-token', {
  route({ config, schemes }, report) {
    if (config.source === undefined || config.verify_token !== undefined) return;
    if (!schemes.some(({ challenges }) => challenges.some(({ token }) => token !== null))) return;
    const message = `\`${config.source}\` checks the URL with a token: set \`verify_token\` to the one entered there`;
    report({ path: ['source'], at: 'value', message });
  },
});

/** A source whose requests can be replayed. */
export const noReplayProtection = rule('no-replay-protection', {
  route({ config, schemes, scope, insecure }, report) {
    if (config.source === undefined || config.replay_guard !== undefined || insecure) return;
    if (!schemes.some(isReplayable)) return;
    const better = Object.values(scope.table.schemes).find(
      ({ name, timestamp }) => timestamp !== null && schemes.some((scheme) => name.startsWith(`${scheme.name}-`)),
    );
    const message = `\`${config.source}\` signs no timestamp and sends no delivery id: a recorded request can be sent again`;
    const hint =
      better === undefined
        ? 'set `replay_guard: body`, which recognises a repeated body'
        : `if the sender supports it, use \`source: ${better.name}\`, whose signature covers a timestamp`;
    report({ path: ['source'], at: 'value', message, hint });
  },
});

/** False for tokens: anyone who reads a request has the token and needs no replay (see `token-without-tls`). */
function isReplayable({ verify, timestamp, delivery, delivery_digest, replay_guard }: SchemePlan): boolean {
  if (verify === 'token' || verify === 'basic' || verify === 'none') return false;
  return replay_guard === undefined && timestamp === null && delivery.length === 0 && !delivery_digest;
}

/** A direct delivery that nothing retries. */
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
function possibleSenders(route: RouteView): ReadonlyMap<string, SourceFacts | null | undefined> {
  const { config, facts, schemes, scope } = route;
  if (config.source !== undefined) return new Map([[config.source, facts]]);
  const accepted = schemes.map(({ name }) => [schemeLabel(route, name), scope.table.source_facts[name]] as const);
  const { events = [] } = config;
  return new Map(accepted.filter(([, own]) => events.every((entry) => matchingEvent(entry, own) !== null)));
}

/** A rate limit that the sender is known to exceed. */
export const rateBelowBurst = rule('rate-below-burst', {
  route({ config, facts, scope }, report) {
    const burst = facts?.burst_per_minute ?? 0;
    const limit = config.rate_limit ?? scope.table.server.rate_limit;
    if (limit >= burst) return;
    const message = `\`${config.source}\` sends up to ${burst} requests a minute; this route accepts ${limit}`;
    const path = config.rate_limit === undefined ? ['source'] : ['rate_limit'];
    report({ path, at: 'value', message, hint: `set \`rate_limit: ${burst}\` or more` });
  },
});

/** A response that may come after the sender's timeout. */
export const slowDirectDelivery = rule('slow-direct-delivery', {
  route({ config, facts, mode, scope }, report) {
    const deadline = facts?.deadline_seconds ?? null;
    const { direct_timeout_seconds: timeout } = scope.table.server;
    if (mode !== 'direct' || deadline === null || timeout <= deadline) return;
    const message = `\`${config.source}\` waits ${printDuration(deadline)} for an answer; a direct delivery may take ${printDuration(timeout)}`;
    const hint = `set \`direct_timeout_seconds\` below ${deadline}`;
    report({ path: ['deliver_only'], at: 'key', message, hint });
  },
});

/** A secret that is sent without encryption. */
export const tokenWithoutTls = rule('token-without-tls', {
  route({ config, schemes, scope, insecure }, report) {
    const { host, public_url } = scope.table.server;
    const inClear = schemes.length > 0 && schemes.every(({ verify }) => verify === 'token' || verify === 'basic');
    if (!inClear || insecure || isLoopback(host) || isHttps(config.public_url ?? public_url)) return;
    const path = config.source === undefined ? ['auth'] : ['source'];
    const message = `every request of \`${config.source ?? schemes[0]?.name}\` contains the secret itself, and TLS is not configured`;
    const hint = 'put a proxy with TLS in front and set `public_url`, or bind 127.0.0.1';
    report({ path, at: 'value', message, hint });
  },
});

const isHttps = (url: string | null): boolean => url !== null && /^https:/i.test(url);

/** An event that the source does not document. */
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
      if (
        entryMatcher(entry) === null ||
        matchingEvent(entry, { events: known, event_names: route.eventNames }) !== null
      )
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
  const exact = sameWord(entry, known) ?? certainName(entry, known);
  if (exact !== null) return { names: [exact], isCertain: true };
  // `invoice.payment_failed` for `payment_failed`; events with similar spelling are different ones.
  const longer = known.filter((event) => event.toLowerCase().endsWith(`.${entry.toLowerCase()}`));
  if (longer.length > 0) return { names: longer.slice(0, MAX_SUGGESTIONS), isCertain: false };
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
    return { message: `${message}, and no event \`${entry}\``, hint: `write \`${event}\` for all of them` };
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
  const [found, other] = known.filter((event) => letters(event) === wanted);
  if (found !== undefined) return other === undefined ? found : undefined;
  return known.find((event) => letters(event) === wanted.replace(/s$/, ''));
}
