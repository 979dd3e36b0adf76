/** The guard of a service: raises alerts and sends the heartbeat. */
import { realTarget } from '../../../base/spec-names.ts';
import { targetLabel, utcTime } from '../../../base/text.ts';
import type { AlertCondition, Guard, GuardContext, OpenGuard } from '../../../runtime/dispatch/context.ts';
import type { DispatchObserver, DispatchOwner } from '../../../runtime/dispatch/dispatcher.ts';
import { alertMessage, FIRST_ATTEMPT } from '../../../runtime/dispatch/own-message.ts';
import type { Timer } from '../../../runtime/platform/clock.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import { Alerts, alertSubject, beginText, endText, FURTHER, receivers } from './alerts.ts';
import { fullBudgets, refusedBy } from './budgets.ts';
import { Heartbeat } from './heartbeat.ts';
import { readRunKey, runKeyName } from './loops.ts';

/** Interval between checks of the gateway's state, in ms. */
const TICK_MS = 5000;
/** Consecutive requests without a valid signature that raise an alert. */
const MOST_UNVERIFIED = 10;
/** Most addresses of a target with separate alerts: senders may choose addresses, and an expired token fails at all of them. */
const MOST_ADDRESSES = 5;
/** How long a file that was saved with errors may stay so before an alert is raised, in ms. */
const EDITING_MS = 60_000;
/** Interval of updates of an alert that lasts, in ms. */
const REMIND_MS = 3_600_000;

export const openGuard: OpenGuard = (context) => new RunningGuard(context);

class RunningGuard implements Guard {
  private readonly context: GuardContext;
  private readonly alerts: Alerts;
  private readonly heartbeat: Heartbeat;
  private readonly unverified = new Map<string, number>();
  private rejected = new Set<string>();
  /** Unix ms since which the store is unavailable; null: it is available. */
  private storeDownSince: number | null = null;
  /** When the alert about a rejected configuration is due, in Unix ms: immediately at a start. Null: it is not rejected. */
  private configDueAt: number | null = 0;
  private timer: Timer | null = null;
  private isClosed = false;

  constructor(context: GuardContext) {
    this.context = context;
    this.alerts = new Alerts(context);
    this.heartbeat = new Heartbeat(context);
    void this.tick();
  }

  get lasting(): Guard['lasting'] {
    return this.alerts.lasting;
  }

  readonly observer: DispatchObserver = {
    runEnded: (owner, outcome) => {
      if (outcome === 'ok') this.clear(runCondition(owner));
    },
    runFailed: (dispatch, reason) => this.raise(runCondition(dispatch), reason),
    deliveryEnded: (dispatch, index, failure) => {
      const delivery = dispatch.deliveries[index];
      // The gateway's own messages have no owner; their failures are only logged.
      if (delivery === undefined || (dispatch.route === null && dispatch.job === null)) return;
      const address = Object.entries(delivery.extra).map(([name, value]) => `${name}=${value}`);
      const about = { profile: dispatch.profile, target: realTarget(delivery.target) };
      const target = inProfile(targetLabel(delivery), dispatch);
      const of = { kind: 'delivery_dead', subject: alertSubject([target, ...address].join(' ')), about } as const;
      const others = { ...of, subject: `${target}, other addresses` };
      if (failure !== null) return this.raise(this.alerts.hasRoom(of, MOST_ADDRESSES) ? of : others, failure);
      this.clear(of);
      if (!this.isClosed) this.alerts.clearWhenQuiet(others);
    },
    jobTicked: (job, missed, fired) => {
      const of = { kind: 'job_missed', subject: inProfile(`job ${job.id}`, job) } as const;
      if (missed > 0) this.raise(of, missed === 1 ? 'missed one run' : `missed ${missed} runs`);
      else if (fired) this.clear(of);
    },
    overLimit: (_owner, { limit, until }) => {
      if (limit.kind === 'budget') {
        const { of, reason } = refusedBy(limit);
        return this.raise(of, reason);
      }
      const of = readRunKey(limit.key);
      if (until === null || of === null) return;
      const reason = `more than ${limit.most} runs in 10 min; events are held until ${utcTime(until)}: hookwright gateway loops list|release`;
      this.raise({ kind: 'loop', subject: alertSubject(runKeyName(of)) }, reason);
    },
  };

  requested(route: string, authentic: boolean | null, limited = false): void {
    const subject = `route ${route}`;
    const replay = 'those with a body can be replayed: hookwright requests list --outcome rate_limited';
    if (limited) this.raise({ kind: 'rate_limited', subject }, `refused until its minute ends; ${replay}`);
    const of = { kind: 'signature_failures', subject } as const;
    if (authentic === true) {
      this.unverified.delete(route);
    } else if (authentic === false) {
      const count = (this.unverified.get(route) ?? 0) + 1;
      this.unverified.set(route, count);
      if (count >= MOST_UNVERIFIED) this.raise(of, `${count} requests in a row; check the secret at the sender`);
    }
  }

  raise(of: AlertCondition, reason: string): void {
    if (!this.isClosed) this.alerts.raise(of, reason);
  }

  clear(of: Pick<AlertCondition, 'kind' | 'subject'>, why?: string): void {
    if (!this.isClosed) this.alerts.clear(of, why);
  }

  test(): Promise<string | null> {
    const text = 'hookwright: test of `gateway.alerts`\nNothing has failed. Alerts will arrive here.';
    return this.store('alert_test', text);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.timer?.cancel();
    await this.alerts.settled();
  }

  private async tick(): Promise<void> {
    try {
      await this.watchStore();
      if (this.storeDownSince === null) await this.alerts.refresh();
      await this.watchBudgets();
      this.watchSubscriptions();
      this.watchConfig();
      await this.heartbeat.beat();
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        this.context.log.error({ err: error }, 'could not check alerts and budgets; will retry');
    }
    if (!this.isClosed) this.timer = this.context.clock.after(TICK_MS, () => void this.tick());
  }

  /** While the store is unavailable, its alert cannot be stored, so it is sent directly, once. Its end is a stored message. */
  private async watchStore(): Promise<void> {
    const { store, clock, log, table } = this.context;
    const problem = store.problem();
    if (table().gateway.alerts?.on.includes('store_unavailable') !== true) return;
    const of: AlertCondition = { kind: 'store_unavailable', subject: 'the store' };
    const now = clock.now();
    if (problem !== null && this.storeDownSince === null) {
      this.storeDownSince = problem.since;
      log.error({ alert: of.kind, reason: problem.message }, 'alert raised');
      await this.sendNow(beginText(of, problem.message));
    } else if (problem === null && this.storeDownSince !== null) {
      const lasted = { ...of, since: this.storeDownSince, last_at: now, count: 1, reason: '' };
      await this.store('alert', endText(lasted, now));
      this.storeDownSince = null;
    }
  }

  private async sendNow(text: string): Promise<void> {
    const { deliverer, ids, clock, log, table } = this.context;
    for (const delivery of receivers(table(), undefined)) {
      const of = { profile: 'default', event: 'alert', prompt: text, deliveries: [delivery] };
      const { id, delivery_id } = alertMessage(ids, clock.now(), of);
      const outcome = await deliverer.deliver({
        key: `${id}:0`,
        profile: 'default',
        route: of.event,
        delivery_id,
        ...delivery,
        text,
        ...FIRST_ATTEMPT,
        signal: AbortSignal.timeout(30_000),
      });
      if (outcome.kind !== 'ok')
        log.error({ target: targetLabel(delivery), reason: outcome.reason }, 'could not send an alert');
    }
  }

  /** Raises alerts for runs that a killed gateway has rejected, and ends those of budgets that were raised. */
  private async watchBudgets(): Promise<void> {
    const { store, clock, table } = this.context;
    if (table().gateway.alerts?.on.includes('budget') !== true) return;
    const active = this.lasting.filter(({ kind, subject }) => kind === 'budget' && subject !== FURTHER);
    const full = await fullBudgets(store, table(), clock.now());
    for (const { of, reason } of full)
      if (!active.some(({ subject }) => subject === of.subject)) this.raise(of, reason);
    for (const alert of active) if (!full.some(({ of }) => of.subject === alert.subject)) this.clear(alert);
  }

  private watchSubscriptions(): void {
    const { rejected } = this.context.state();
    const now = new Set(rejected.map(({ name }) => name));
    for (const { name, reason } of rejected)
      if (!this.rejected.has(name)) this.raise({ kind: 'subscription_rejected', subject: name }, reason);
    for (const { kind, subject } of this.lasting)
      if (kind === 'subscription_rejected' && !now.has(subject)) this.clear({ kind, subject });
    this.rejected = now;
  }

  private watchConfig(): void {
    const { store, clock, state } = this.context;
    const { problem, url } = state();
    const subject = store.shared === null ? 'the configuration' : `the configuration of ${url}`;
    const of = { kind: 'config_rejected', subject, count: 1 } as const;
    const now = clock.now();
    if (problem === null) {
      this.configDueAt = null;
      if (this.lasting.some((alert) => alert.kind === of.kind && alert.subject === subject)) this.clear(of);
      return;
    }
    this.configDueAt ??= now + EDITING_MS;
    if (now < this.configDueAt) return;
    this.raise(of, problem);
    this.configDueAt = now + REMIND_MS;
  }

  /** Stores a message, and returns its id. Null: it has no receivers. */
  private async store(event: string, prompt: string): Promise<string | null> {
    const { store, clock, ids, table, wake } = this.context;
    const deliveries = receivers(table(), undefined);
    if (deliveries.length === 0) return null;
    const now = clock.now();
    const dispatch = alertMessage(ids, now, { profile: 'default', event, prompt, deliveries });
    const open = deliveries.map(({ target }, index) => ({ index, target, due_at: now }));
    const work = { kind: 'deliveries', answer: null, open } as const;
    await store.write({
      kind: 'accept',
      dispatch,
      max_concurrent: null,
      claim: null,
      claiming: 'now',
      work,
      now,
    });
    wake();
    return dispatch.id;
  }
}

const inProfile = (text: string, { profile }: { readonly profile: string }): string =>
  profile === 'default' ? text : `${text} (profile ${profile})`;

/** A failed run of a job raises only `job_failed`, even if an event has started it. */
const runCondition = (owner: DispatchOwner): Pick<AlertCondition, 'kind' | 'subject'> =>
  owner.job === null
    ? { kind: 'run_failed', subject: inProfile(`route ${owner.route ?? ''}`, owner) }
    : { kind: 'job_failed', subject: inProfile(`job ${owner.job}`, owner) };
