/** Creates services without effects for the stages of an explained request. The dispatcher's answers follow from the configuration. */

import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { targetLabel } from '../../../../base/text.ts';
import type { Dispatcher, LimitedEvent } from '../../../../runtime/dispatch/dispatcher.ts';
import type { FindInstallation } from '../../../../runtime/dispatch/own-message.ts';
import type { Services } from '../../../../runtime/intake/intake.ts';
import { Intake } from '../../../../runtime/intake/intake.ts';
import type { RunScript, ScriptOutcome, ScriptRequest } from '../../../../runtime/intake/script-runner.ts';
import { IntakeRequest } from '../../../../runtime/intake/unverified-bodies.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { Ids } from '../../../../runtime/platform/ids.ts';
import type { LogFields, Logger } from '../../../../runtime/platform/log.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets.ts';
import { printSecretRef } from '../../../../runtime/platform/secrets.ts';
import type { OverLimit } from '../../../../runtime/store/run-limits.ts';
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import { RateWindow } from '../../../../runtime/table/rate-limit.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import type { Dispatch, DispatchDelivery, Explanation, RouteTable } from '../../../../schemas/generated/types.ts';

export interface ExplainContext {
  /** A dispatcher without effects: see `createDryDispatcher`. */
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The id of this installation, which recognises its own markers. */
  readonly installation: FindInstallation;
  readonly homeChannel: HomeChannelOf;
  /** The targets whose approval requests have buttons. */
  readonly buttons: Pick<Explanation['deliveries'][number], 'buttons'>;
  /** For warnings about deliveries that would fail; null: no such warnings. */
  readonly refusal: RefusesDelivery | null;
}

interface ServicesInput {
  readonly request: RequestParts;
  /** Null: the script is not run. */
  readonly runScript: RunScript | null;
  readonly warnings: Warnings;
}

/** @param onScript called with the outcome of the script, if it runs */
export function explainServices(
  { request, runScript, warnings }: ServicesInput,
  { dispatcher, clock, ids, installation }: ExplainContext,
  onScript: (outcome: ScriptOutcome, asked: ScriptRequest) => void,
): Services {
  return {
    clock,
    ids,
    dispatcher,
    log: warnings.log,
    installation,
    runScript: async (asked) => {
      if (runScript === null) throw new Error('the script stage is skipped');
      const outcome = await runScript(asked);
      onScript(outcome, asked);
      return outcome;
    },
    shutdown: { retryAfterSeconds: null },
    overload: { refuses: () => false, verify: () => {} },
    bodies: {
      read: async (_request, limit) => (request.body.length > limit ? 'too_large' : request.body),
      readArrived: async () => request.body,
      release: () => {},
    },
    connections: { verify: () => {} },
    warnDeprecated: ({ deprecated }, scheme) => warnings.deprecated(scheme, deprecated.get(scheme) ?? null),
    tracing: null,
  };
}

/** Returns why a delivery would fail before anything is sent; null: it may succeed. @param text null: not yet known */
export type RefusesDelivery = (
  profile: string,
  delivery: DispatchDelivery,
  text: string | null,
) => Promise<string | null> | string | null;

/** Returns the home channel if the delivery names no chat; null: it names one, or its target has no home channel. */
type HomeChannelOf = (profile: string, delivery: DispatchDelivery) => string | null;

export type JobOutcome = 'accepted' | 'paused' | 'unknown_job';

export interface DryContext {
  readonly refusal: RefusesDelivery;
  readonly jobState: (profile: string, id: string) => Promise<JobOutcome> | JobOutcome;
  /** The limit that a run would exceed; omitted: there are no limits. @param event null: a job's run */
  readonly overLimit?: ((dispatch: Dispatch, event: LimitedEvent | null) => Promise<OverLimit | null>) | undefined;
}

/** There are no duplicates, the queue is empty, and every delivery with a usable address succeeds. */
export function createDryDispatcher({ refusal, jobState, overLimit }: DryContext): Dispatcher {
  const over = async (dispatch: Dispatch, event: LimitedEvent | null = null): Promise<OverLimit | null> => {
    const found = (await overLimit?.(dispatch, event)) ?? null;
    return found?.holds === true ? null : found;
  };
  return {
    isKnownDone: () => false,
    refuseRepeat: async () => null,
    accept: async (dispatch, _claim, _most, event) => (await over(dispatch, event)) ?? { kind: 'accepted' },
    coalesce: async (dispatch, _claim, _group, _most, event) =>
      (await over(dispatch, event)) ?? { kind: 'coalesced', superseded: 0 },
    async deliver({ profile, deliveries, prompt }) {
      const refused = await Promise.all(deliveries.map((delivery) => refusal(profile, delivery, prompt)));
      const results = deliveries.map((delivery, index) => ({
        target: targetLabel(delivery),
        ok: refused[index] === null,
      }));
      return { kind: results.every(({ ok }) => ok) ? 'delivered' : 'failed', results };
    },
    async fire(dispatch) {
      const kind = await jobState(dispatch.profile, dispatch.job ?? '');
      return (kind === 'accepted' ? await over(dispatch) : null) ?? { kind };
    },
  };
}

/** Creates the intake of a request from a file instead of a connection. */
export function createIntake(
  { method, url, headers, rawHeaders }: RequestParts,
  route: LinkedRoute,
  clock: Clock,
): Intake {
  const request = new IntakeRequest(new Socket());
  request.method = method;
  request.url = url;
  request.headers = headers;
  request.rawHeaders = [...rawHeaders];
  // An empty rate window.
  return new Intake(request, new ServerResponse(request), { ...route, window: new RateWindow() }, clock);
}

/** The reason why `serve` does not start without `platforms.webhook.enabled`. */
export const SWITCHED_OFF = 'webhooks are switched off: set platforms.webhook.enabled';

/** The state of a job according to the config alone, for tests of a config. */
export function configuredJobState({ jobs }: RouteTable, profile: string, id: string): JobOutcome {
  const job = Object.hasOwn(jobs, id) ? jobs[id] : undefined;
  if (job === undefined || job.profile !== profile) return 'unknown_job';
  return job.paused ? 'paused' : 'accepted';
}

/** Returns the chat to which a target delivers if a route names none; its reference if that cannot be resolved here. */
export function homeChannels({ profiles }: RouteTable, secrets: SecretResolver): HomeChannelOf {
  return (profile, { target, extra }) => {
    const targets = profiles[profile]?.targets ?? {};
    const binding = Object.hasOwn(targets, target) ? targets[target] : undefined;
    if (binding === undefined || Object.hasOwn(extra, 'chat_id')) return null;
    const { home_channel: ref } = binding.credentials;
    return (ref === undefined ? binding.home_channel : lenient(secrets).resolve(ref, 'home_channel').trim()) || null;
  };
}

/** Resolves no secrets, for explanations and dry runs, which show none. */
export const NO_SECRETS: SecretResolver = {
  resolve: () => {
    throw new Error('secrets are not read here');
  },
};

/** For dry runs, which show no secrets: a secret that is missing on this machine resolves to its reference. */
export function lenient(secrets: SecretResolver): SecretResolver {
  return {
    resolve(ref) {
      try {
        return secrets.resolve(ref);
      } catch {
        return printSecretRef(ref);
      }
    },
  };
}

/** Collects warnings about later failures while a request is explained. */
export class Warnings {
  private readonly earlier: Warnings | null;
  private readonly texts: string[] = [];

  /** @param earlier earlier warnings, such as those about linking the route */
  constructor(earlier: Warnings | null = null) {
    this.earlier = earlier;
  }

  /** Collects the warnings that the stages log. */
  readonly log: Logger = {
    debug: () => {},
    info: () => {},
    warn: (fields, message) => this.add(message, fields),
    error: (fields, message) => this.add(message, fields),
  };

  deprecated(scheme: string, reason: string | null): void {
    if (reason !== null) this.texts.push(`the signature scheme ${scheme} is deprecated: ${reason}`);
  }

  /** Returns all warnings, including those about the addresses of the dispatch. */
  of(dispatch: Dispatch | null): string[] {
    const addresses = (dispatch?.deliveries ?? []).flatMap(({ extra, unresolved, ...delivery }) =>
      unresolved.map((key) => `deliver_extra.${key} of ${targetLabel(delivery)} does not resolve: ${extra[key] ?? ''}`),
    );
    return [...new Set([...(this.earlier?.texts ?? []), ...this.texts, ...addresses])];
  }

  add(message: string, { file, reason }: LogFields): void {
    const about = [file, reason].filter((text) => typeof text === 'string');
    this.texts.push([message, ...about].join(': '));
  }
}
