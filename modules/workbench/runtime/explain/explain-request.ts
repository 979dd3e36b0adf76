/**
 * Explains how a request is handled: runs the intake stages without effect, and records the findings of each. For the
 * command line, tests of a configuration, and captured requests.
 */
import { writeJson } from '../../../../base/exact-number.ts';
import { targetLabel } from '../../../../base/text.ts';
import type { Intake, Services, StageName } from '../../../../runtime/intake/intake.ts';
import { STAGE_NAMES } from '../../../../runtime/intake/intake.ts';
import type { Watcher } from '../../../../runtime/intake/pipeline.ts';
import { runPipeline } from '../../../../runtime/intake/pipeline.ts';
import { reasonOf, signatureLocations } from '../../../../runtime/intake/reason.ts';
import type { Reply } from '../../../../runtime/intake/reply.ts';
import { ACCEPTED_OUTCOMES } from '../../../../runtime/intake/reply.ts';
import { respondAs } from '../../../../runtime/intake/respond.ts';
import type { RunScript, ScriptOutcome } from '../../../../runtime/intake/script-runner.ts';
import { EVENT_LIMIT, subjectOf } from '../../../../runtime/intake/stages/decide.ts';
import { printableStart } from '../../../../runtime/platform/log.ts';
import { fillEvents } from '../../../../runtime/store/listed-rows.ts';
import { isMessage } from '../../../../runtime/store/timeline.ts';
import { eventEntries } from '../../../../runtime/table/link-events.ts';
import { printField } from '../../../../runtime/table/link-filter.ts';
import type { Builtins } from '../../../../runtime/table/link-template.ts';
import { linkTemplate } from '../../../../runtime/table/link-template.ts';
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import type { SignatureEvidence } from '../../../../runtime/verify/likely-sources.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import { LazyRequest } from '../../../../runtime/verify/request.ts';
import type {
  Dispatch,
  DispatchDelivery,
  ExplainedStage,
  Explanation,
  TemplatePlan,
} from '../../../../schemas/generated/types.ts';
import { findCause } from '../causes/find-cause.ts';
import { assumeScheme, asVerified, isSigned, withEvent } from './assume-scheme.ts';
import type { ExplainContext } from './explain-services.ts';
import { createIntake, explainServices, Warnings } from './explain-services.ts';

export interface ExplainRequest {
  readonly route: LinkedRoute;
  /** The kind of the route's agent. */
  readonly agent: Explanation['agent'];
  /** Sandbox and concurrency limit of the run. */
  readonly limits?: Pick<Explanation, 'sandbox' | 'max_concurrent'>;
  readonly request: RequestParts;
  /** Replaces the event type of the request; null: as sent. */
  readonly event: string | null;
  /** For a captured request, the scheme that verified it on arrival. It is not verified again. */
  readonly verifiedBy?: string;
  /** For a captured request, its arrival time in Unix ms, which decides its age. */
  readonly cameAt?: number;
  /** Why signatures cannot be verified; null: a signature in the request is verified. */
  readonly unverified: string | null;
  /** For finding the cause of an invalid signature; null: the cause is not searched for. */
  readonly evidence: SignatureEvidence | null;
  /** Null: the script is not run. */
  readonly runScript: RunScript | null;
  /** Collects warnings; may already contain warnings about linking the route. */
  readonly warnings: Warnings;
}

/** Stages that are skipped if the signature is not verified. */
const OF_SIGNATURE: ReadonlySet<StageName> = new Set(['credential', 'handshake', 'signature', 'challenge']);

/** Resolves to the explanation; rejects only because of a bug in hookwright. */
export async function explainRequest(input: ExplainRequest, context: ExplainContext): Promise<Explanation> {
  const watched = new WatchedRequest(input, context);
  const reply = await runPipeline(watched.intake, watched.services, watched);
  for (const one of [watched, ...watched.items.values()]) await one.checkDeliveries();
  return watched.explanation(reply);
}

/** A request, or an event of its batch. */
class WatchedRequest implements Watcher {
  readonly intake: Intake;
  readonly services: Services;
  readonly items = new Map<Intake, WatchedRequest>();
  private readonly input: ExplainRequest;
  private readonly context: ExplainContext;
  private readonly stages: ExplainedStage[] = [];
  private readonly unverified: 'not_signed' | 'no_secret' | null;
  /** The scheme that the request is assumed to use if its signature is not verified. */
  private readonly assumed: string | null;
  private filter: Explanation['filter'] = null;
  private outcome: ScriptOutcome | null = null;
  private stdin: string | null = null;
  private dispatch: Dispatch | null = null;
  private parts: Explanation['prompt_parts'];

  constructor(input: ExplainRequest, context: ExplainContext) {
    const { event, request, warnings, verifiedBy } = input;
    const route = verifiedBy === undefined ? input.route : asVerified(input.route, verifiedBy);
    const parsed = new LazyRequest(request);
    this.input = input;
    this.context = context;
    this.unverified = route.insecure || verifiedBy !== undefined ? null : unverifiedBecause(input, parsed);
    if (this.unverified === 'no_secret') warnings.add('the signature cannot be verified', { reason: input.unverified });
    const scheme = this.unverified === null ? null : assumeScheme(route, parsed);
    this.intake = createIntake(event === null ? request : withEvent(request, scheme, event), route, context.clock);
    this.intake.cameAt = input.cameAt ?? this.intake.cameAt;
    this.assumed = scheme?.name ?? null;
    this.services = explainServices(input, context, (outcome, { deliveryId }) => {
      const item = [...this.items.values()].find(({ intake }) => intake.deliveryId === deliveryId);
      (item ?? this).outcome = outcome;
    });
  }

  /** The event of the batch that passes its stages. */
  private itemOf(intake: Intake): WatchedRequest {
    const own = { intake, items: new Map(), stages: [], input: { ...this.input, warnings: new Warnings() } };
    const item = this.items.get(intake) ?? Object.assign(Object.create(WatchedRequest.prototype) as this, this, own);
    this.items.set(intake, item);
    return item;
  }

  skips(stage: StageName, passing: Intake): boolean {
    if (passing !== this.intake) return this.itemOf(passing).skips(stage, passing);
    if (stage === 'identify' && this.assumed !== null) this.intake.scheme = this.assumed;
    // Before it runs: its output replaces the payload.
    if (stage === 'script' && this.intake.route.script !== null) this.stdin = writeJson(this.intake.data);
    const reason = this.reasonToSkip(stage);
    if (reason !== null) this.stages.push({ ...stageFacts(stage, this.intake), stage, result: 'skipped', reason });
    return reason !== null;
  }

  passed(stage: StageName, reply: Reply | null, passing: Intake): void {
    const { intake, input } = this;
    if (passing !== intake) {
      this.itemOf(passing).passed(stage, reply, passing);
      return;
    }
    if (stage === 'identify' && input.event !== null) intake.event = printableStart(input.event, EVENT_LIMIT);
    if (stage === 'filter') this.filter = intake.route.filter?.inspect(subjectOf(intake)) ?? null;
    if (stage === 'age') this.warnOfTime();
    if (stage === 'render') this.rendered();
    // A reply of the dispatch stage that accepts the event does not stop the request.
    const isStop = reply !== null && !ACCEPTED_OUTCOMES.has(reply.outcome);
    const result = isStop ? 'stop' : 'pass';
    const facts = { ...stageFacts(stage, intake), ...(isStop ? this.causeFacts(stage) : {}) };
    this.stages.push({ ...facts, stage, result, reason: isStop ? (intake.reason ?? reply.outcome) : null });
  }

  private warnOfTime(): void {
    const { maxAge, plan } = this.intake.route;
    if (maxAge === null || plan.max_age === null || maxAge.ageOf(subjectOf(this.intake), 0) !== null) return;
    const reason = `no readable time in \`${printField(plan.max_age.time)}\``;
    this.input.warnings.add('the event is accepted at any age', { reason });
  }

  private rendered(): void {
    const { dispatch, coalesceKey, route } = this.intake;
    this.dispatch = dispatch === null ? null : fillEvents(dispatch, []);
    const parts = route.isMarked ? [] : promptParts(this.intake);
    // Marks and group events apply to the whole prompt.
    if (parts.map(({ text }) => text).join('') === this.dispatch?.prompt) this.parts = parts;
    const { coalesce, session } = route.plan;
    if (coalesce !== null && coalesceKey === null)
      this.warnOfKey('`coalesce.key` does not resolve: the event is not coalesced', coalesce.key);
    if (session !== null && dispatch?.session_key === null)
      this.warnOfKey('`session_key` does not resolve: the run gets a new session', session.key);
    if (this.intake.isExchange)
      this.input.warnings.add(
        'another hookwright gateway caused the event: after a few such events for one key, further ones are ignored (`loop`)',
        {},
      );
  }

  private warnOfKey(message: string, key: TemplatePlan): void {
    const { unresolved } = linkTemplate(key)(this.intake.data, builtinsOf(this.intake));
    this.input.warnings.add(message, { reason: `no ${unresolved.join(', ')} in the payload` });
  }

  /** Warns about deliveries that would fail regardless of the agent's answer. */
  async checkDeliveries(): Promise<void> {
    const { dispatch, context, input } = this;
    if (dispatch === null || context.refusal === null) return;
    const { profile, deliveries, mode, prompt } = dispatch;
    for (const delivery of deliveries) {
      // These are reported by their keys.
      if (delivery.unresolved.length > 0) continue;
      const reason = await context.refusal(profile, delivery, isMessage({ mode }) ? prompt : null);
      if (reason !== null) input.warnings.add(`the delivery to ${targetLabel(delivery)} fails`, { reason });
    }
  }

  explanation(reply: Reply): Explanation {
    const { intake, dispatch, input } = this;
    const { plan } = input.route;
    const { outcome } = reply;
    const sent = intake.partOf === null ? respondAs(intake, reply) : reply;
    const isKnown = this.stages.some(({ stage, result }) => stage === 'identify' && result === 'pass');
    const isAccepted = ACCEPTED_OUTCOMES.has(outcome);
    return {
      route: plan.name,
      profile: plan.profile,
      event: isKnown ? intake.event : null,
      delivery_id: isKnown && intake.claim?.generated === false ? intake.deliveryId : null,
      taken: isAccepted,
      status: sent.status,
      outcome,
      ...(sent === reply ? {} : { response: responseOf(sent) }),
      ...(intake.events === null
        ? {}
        : { events: intake.events.map((one) => this.itemOf(one.intake).explanation(one.reply)) }),
      reason: isAccepted ? null : (intake.reason ?? (outcome === 'ignored' ? null : outcome)),
      stages: this.everyStage(),
      filter: this.filter,
      script: this.script(),
      prompt: dispatch?.prompt ?? null,
      ...(this.parts === undefined ? {} : { prompt_parts: this.parts }),
      unresolved: [...intake.unresolved],
      deliveries: (dispatch?.deliveries ?? []).map((delivery) => this.delivery(delivery)),
      ...this.outputs(),
      ...this.ofRun(),
      agent: dispatch?.mode === 'agent' ? input.agent : null,
      ...(dispatch?.mode === 'agent' ? input.limits : {}),
      agent_name: dispatch?.mode === 'agent' ? (dispatch.agent ?? null) : null,
      job: dispatch?.job ?? null,
      coalesce: this.coalesce(),
      session: dispatch?.mode === 'agent' ? dispatch.session : null,
      ...(dispatch?.pins?.fresh === undefined ? {} : { fresh: dispatch.pins.fresh }),
      ...(plan.progress === undefined
        ? {}
        : { progress: dispatch?.progress ? this.delivery(dispatch.progress) : null }),
      ...(dispatch?.on_newer === undefined ? {} : { on_newer: dispatch.on_newer }),
      toolsets: [...(dispatch?.toolsets ?? [])],
      skills: [...(dispatch?.skills ?? [])],
      warnings: input.warnings.of(dispatch),
      would_not_start: null,
    };
  }

  private delivery(delivery: DispatchDelivery): Explanation['deliveries'][number] {
    const { extra, unresolved, approve_ms } = delivery;
    const home = this.context.homeChannel(this.input.route.plan.profile, delivery);
    const address = home === null ? extra : { chat_id: home, ...extra };
    const waits = approve_ms === undefined ? {} : { approve: true as const, ...this.context.buttons };
    return { target: targetLabel(delivery), address, unresolved, home_channel: home !== null, ...waits };
  }

  private outputs(): Pick<Explanation, 'outputs'> {
    const outputs = this.dispatch?.outputs?.map(({ name, fields, allow, max, delivery, required }) => ({
      output: name,
      ...this.delivery(delivery),
      fields: fields.map((field) => field.name),
      allow,
      max,
      ...(required === undefined ? {} : { required }),
    }));
    return outputs === undefined ? {} : { outputs };
  }

  private ofRun(): Pick<Explanation, 'on_failure' | 'status_url'> {
    const { status } = this.input.route.plan;
    const { on_failure } = this.dispatch ?? {};
    return {
      ...(on_failure === undefined ? {} : { on_failure: on_failure.map((delivery) => this.delivery(delivery)) }),
      ...(status === undefined || this.dispatch === null ? {} : { status_url: status.answer ? 'answer' : 'state' }),
    };
  }

  private causeFacts(stage: StageName): Pick<ExplainedStage, 'cause'> {
    const { intake, input } = this;
    const { authenticator } = intake.route;
    const refused =
      stage === 'credential'
        ? authenticator.refuseByHead(intake, intake.receivedAt)
        : stage === 'signature'
          ? authenticator.authenticate(intake, intake.receivedAt)
          : null;
    if (refused === null || refused.ok || input.evidence === null || input.verifiedBy !== undefined) return {};
    return { cause: findCause({ ...input.evidence, refused, parts: input.request, now: intake.receivedAt }) };
  }

  private reasonToSkip(stage: StageName): string | null {
    if (this.unverified !== null && OF_SIGNATURE.has(stage)) return this.unverified;
    return stage === 'script' && this.intake.route.script !== null && this.input.runScript === null ? 'not_run' : null;
  }

  private everyStage(): ExplainedStage[] {
    const missing = STAGE_NAMES.slice(this.stages.length);
    return [...this.stages, ...missing.map((stage) => ({ stage, result: 'skipped', reason: 'not_reached' }) as const)];
  }

  private script(): Explanation['script'] {
    const { script } = this.input.route.plan;
    const at = this.stages.find(({ stage }) => stage === 'script');
    if (script === null || at === undefined) return null;
    const { outcome, stdin } = this;
    const detail = outcome === null || !('reason' in outcome) ? null : outcome.reason;
    const stderr = outcome?.kind === 'ignored' && outcome.stderr !== '' ? outcome.stderr : null;
    return { path: script.path, ran: at.result !== 'skipped', outcome: outcome?.kind ?? null, detail, stderr, stdin };
  }

  private coalesce(): Explanation['coalesce'] {
    const { coalesce } = this.input.route;
    const { coalesceKey: key } = this.intake;
    if (coalesce === null || key === null || this.dispatch === null) return null;
    const keep = coalesce.all === null ? {} : ({ keep: 'all' } as const);
    return { key, ...keep, window_seconds: coalesce.windowMs / 1000, max_wait_seconds: coalesce.maxWaitMs / 1000 };
  }
}

function responseOf({ headers, body }: Reply): NonNullable<Explanation['response']> {
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[String(name), String(headers[at + 1])] as const] : []));
  const { 'Content-Type': content_type = null, 'Content-Length': _length, ...others } = Object.fromEntries(pairs);
  return { content_type, headers: others, body };
}

function unverifiedBecause(input: ExplainRequest, request: LazyRequest): 'not_signed' | 'no_secret' | null {
  if (!isSigned(input, request)) return 'not_signed';
  return input.unverified === null ? null : 'no_secret';
}

const builtinsOf = ({ route, event, deliveryId }: Intake): Builtins => ({
  event_type: event,
  route: route.plan.name,
  delivery_id: deliveryId,
});

/** Returns the parts of the prompt, each with its placeholder. */
function promptParts(intake: Intake): NonNullable<Explanation['prompt_parts']> {
  return intake.route.plan.prompt.map((segment) => {
    const { text, unresolved } = linkTemplate([segment])(intake.data, builtinsOf(intake));
    const placeholder = segment.kind === 'text' ? null : 'text' in segment ? segment.text : `{${segment.kind}}`;
    return { text, placeholder, resolved: unresolved.length === 0 };
  });
}

type Facts = Omit<ExplainedStage, 'stage' | 'result' | 'reason'>;

const FACTS: Readonly<Partial<Record<StageName, (intake: Intake) => Facts>>> = {
  credential: signatureFacts,
  signature: signatureFacts,
  event: ({ event, route }) => {
    const { events } = route.plan;
    return events === null ? {} : { accepts: eventEntries(events), matched: route.events.entryFor(event) };
  },
};

/** Returns the facts about a stage that has just run. */
function stageFacts(stage: StageName, intake: Intake): Facts {
  const about = intake.stage === stage ? reasonOf(intake)?.about : null;
  const detail = about?.kind === 'text' ? { detail: about.text } : {};
  return { ...FACTS[stage]?.(intake), ...detail };
}

function signatureFacts(intake: Intake): Facts {
  if (intake.route.insecure) return {};
  const { age_seconds, ...found } = signatureLocations(intake);
  return {
    ...found,
    ...(intake.authenticated && intake.secret > 0 ? { secret: intake.secret } : {}),
    ...(age_seconds === null ? {} : { age_seconds }),
  };
}
