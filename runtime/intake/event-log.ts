/**
 * Reports the outcome of each request: counts it, and writes one log line for each event. Unauthenticated requests share a
 * budget of lines for each route. Payloads and secrets are never logged.
 */
import { DEFAULT_PROFILE } from '../../base/names.ts';
import type { KeptSignatureReason } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { LogFields, Logger } from '../platform/log.ts';
import { printableStart, traceField } from '../platform/log.ts';
import { ERRORS } from './built/errors.ts';
import type { Intake } from './intake.ts';
import { decidingScheme, reasonOf } from './reason.ts';
import type { Outcome, Reply } from './reply.ts';
import { ACCEPTED_OUTCOMES } from './reply.ts';

interface Finished {
  readonly route: string;
  readonly profile: string;
  readonly outcome: Outcome;
  /** The stage's code if the event was ignored; otherwise null. */
  readonly ignored: string | null;
  readonly ms: number;
  /** Index of the matching secret; above 0 if the sender still uses a previous one. */
  readonly secret: number;
  /** False for a request of an unknown path that is not an event. */
  readonly isEvent?: boolean;
  /** True if its signature is valid. */
  readonly authentic?: boolean;
}

/** Counts finished requests, for metrics. */
export type CountRequest = (finished: Finished) => void;

type Level = keyof Logger;

/** Maximum number of placeholders named in a line. */
const MOST_UNRESOLVED = 20;

const LINES_OF: Partial<Record<Outcome, { readonly status?: number; readonly level?: Level }>> = {
  ...ERRORS,
  aborted: { level: 'warn' },
};

/** The level of a request's line. */
export const levelOf = (outcome: Outcome): Level => LINES_OF[outcome]?.level ?? 'info';

interface EventLogContext {
  readonly nearestRoute: (path: string) => string | null;
  readonly log: Logger;
  readonly clock: Clock;
  readonly count: CountRequest;
}

export class EventLog {
  private readonly context: EventLogContext;
  /** Budgets by route, for lines that any client can cause. */
  private readonly budgets = new Map<string, LineBudget>();
  private readonly misses = new LineBudget(MISSES);

  constructor(context: EventLogContext) {
    this.context = context;
  }

  /** Reports a finished request. @param kept id of its capture; null: not captured */
  finished(intake: Intake, { outcome }: Reply, kept: string | null): void {
    const { plan } = intake.route;
    const now = this.context.clock.monotonic();
    const ms = now - intake.startedAt;
    const ignored = outcome === 'ignored' ? intake.reason : null;
    this.context.count({
      route: plan.name,
      profile: plan.profile,
      outcome,
      ignored,
      ms,
      secret: intake.secret,
      authentic: intake.authenticated,
    });
    const level = levelOf(outcome);
    if (intake.authenticated) {
      this.context.log[level](fieldsOf(intake, outcome, ms, kept), outcome);
      return;
    }
    const { write, held } = this.budgetOf(plan.name).take(now);
    if (!write) return;
    const fields = fieldsOf(intake, outcome, ms, kept);
    this.context.log[level](held === 0 ? fields : { ...fields, not_logged: held }, outcome);
  }

  private budgetOf(route: string): LineBudget {
    let budget = this.budgets.get(route);
    if (budget === undefined) {
      budget = new LineBudget();
      this.budgets.set(route, budget);
    }
    return budget;
  }

  /**
   * Reports a request to an unknown path. An event gets a line within a budget, because any client can send one. Returns
   * the path that may be meant, if it did.
   */
  noRoute(
    path: string,
    outcome: 'unknown_route' | 'overloaded',
    isEvent: boolean,
  ): { readonly nearest: string | null } | null {
    const { clock, count, log } = this.context;
    count({ route: '', profile: '', outcome, ignored: null, ms: 0, secret: 0, authentic: false, isEvent });
    const shown = { path: printableStart(path, PATH_LIMIT) };
    const { write, held } = isEvent && outcome === 'unknown_route' ? this.misses.take(clock.monotonic()) : NO_LINE;
    if (!write) {
      log.debug(shown, outcome === 'overloaded' ? 'overloaded' : 'unknown_route');
      return null;
    }
    const nearest = this.context.nearestRoute(path);
    const fields = { ...shown, ...(nearest === null ? {} : { nearest }), ...(held === 0 ? {} : { not_logged: held }) };
    log[nearest === null ? 'info' : 'warn'](fields, 'unknown_route');
    return { nearest };
  }
}

/** The fields of a line, without those that have their default value. */
function fieldsOf(intake: Intake, outcome: Outcome, ms: number, kept: string | null): LogFields {
  const { plan } = intake.route;
  const fields: Record<string, unknown> = {
    route: plan.name,
    event: intake.event,
    delivery_id: intake.deliveryId,
    outcome,
    ms: Math.round(ms * 100) / 100,
  };
  if (plan.profile !== DEFAULT_PROFILE) fields.profile = plan.profile;
  if (kept !== null && !ACCEPTED_OUTCOMES.has(outcome)) fields.request = kept;
  if (intake.reason !== null) fields.reason = intake.reason;
  Object.assign(fields, reasonFields(intake, kept));
  if (intake.unresolved.length > 0) fields.unresolved = intake.unresolved.slice(0, MOST_UNRESOLVED);
  if (!intake.authenticated) fields.scheme = decidingScheme(intake);
  if (intake.secret > 0) fields.secret = intake.secret;
  return Object.assign(fields, traceField(intake.trace));
}

/** Maximum length of an unknown path that is shown, in UTF-16 units. */
const PATH_LIMIT = 200;
const NO_LINE = { write: false, held: 0 };
/** Maximum number of lines of one kind per minute. */
const LINES = 100;
/** The same for unknown paths, which are compared with those of all routes. */
const MISSES = 20;
const MINUTE_MS = 60_000;

/** Limits the log lines that any client can cause: a maximum of each kind per minute, then only a count. */
class LineBudget {
  private readonly most: number;
  private since = Number.NEGATIVE_INFINITY;
  private written = 0;
  private held = 0;

  constructor(most = LINES) {
    this.most = most;
  }

  /**
   * Decides whether another line may be written now, and returns the number of lines omitted since the last one.
   * @param now monotonic ms
   */
  take(now: number): { readonly write: boolean; readonly held: number } {
    if (now - this.since >= MINUTE_MS) {
      this.since = now;
      this.written = 0;
    }
    if (this.written >= this.most) {
      this.held++;
      return { write: false, held: 0 };
    }
    this.written++;
    const { held } = this;
    this.held = 0;
    return { write: true, held };
  }
}

/** Empty if the code says everything. @param kept id of the captured request; null: not captured */
function reasonFields(intake: Intake, kept: string | null): LogFields {
  const about = reasonOf(intake)?.about ?? null;
  switch (about?.kind) {
    case undefined:
      return {};
    case 'text':
      return { detail: about.text };
    case 'event':
      return { accepts: about.accepts };
    case 'filter':
      return { filter: about.at, field: about.field, operator: about.operator, found: about.found };
    case 'signature':
      return signatureFields(about, kept === null ? HINT : `hookwright requests show ${kept}`);
  }
}

const HINT =
  'save such a request and run: hookwright explain <route> --payload @<file>, or hookwright source detect <file>';

function signatureFields(about: KeptSignatureReason, hint: string): LogFields {
  const { looked_for, other_sources, age_seconds, sent } = about;
  const age = age_seconds === null ? {} : { age_seconds };
  const unverified = sent.event !== null || sent.delivery_id !== null ? { unverified: sent } : {};
  return { looked_for, ...age, ...unverified, hint: sourceHint(other_sources) + hint };
}

/** A route without `source:` accepts only a few schemes; other senders must be named. */
function sourceHint(names: readonly string[]): string {
  if (names.length === 0) return '';
  const sources = names.map((name) => `\`source: ${name}\``).join(' or ');
  return `the request looks like one of ${names.join(' or ')}: set ${sources} if that is the sender; `;
}
