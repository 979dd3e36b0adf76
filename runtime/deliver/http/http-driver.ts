/**
 * The driver of all declarative HTTP targets.
 *
 *   address → form of the request → pieces of the text → for each piece not yet sent:
 *   pace → token (cached) → build → send → classify; on `refresh` once more with a new token.
 *
 * A target with `find` first looks for what was posted before, where a repeat might post it twice, and for `mode: upsert`.
 *
 * The first piece that fails ends the attempt. `sent` is the number of pieces delivered; the next attempt resumes there.
 */
import { createHash } from 'node:crypto';
import type { ShownPlace } from '../../../schemas/generated/types.ts';
import { traceHeaders } from '../../platform/tracing.ts';
import { isNewerMarker } from '../../table/loop-marker.ts';
import type { Addressed, DeliveryOutcome, DeliveryRequest } from '../deliverer.ts';
import { failed } from '../deliverer.ts';
import type { BoundTarget, CreateDriver, DeliveryContext, Driver, ShownDelivery } from '../driver.ts';
import type { PaceRule } from '../pace.ts';
import type { Probe, ProbeOptions } from '../probe.ts';
import { notLive, probed, probeFailed } from '../probe.ts';
import type { DeliveryResult } from './classify-response.ts';
import type { FindLogin } from './find-login.ts';
import { linkFindLogin } from './find-login.ts';
import type { FindPosted } from './find-posted.ts';
import { linkFindPosted } from './find-posted.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { showRequest } from './link-request.ts';
import type { LinkedVariant } from './link-variant.ts';
import { linkVariant } from './link-variant.ts';
import type { PreparedDelivery } from './prepare-delivery.ts';
import { prepareAddress, prepareDelivery } from './prepare-delivery.ts';
import { probeAccount, probeHost } from './probe-http.ts';
import type { PieceSender } from './send-piece.ts';
import { createPieceSender } from './send-piece.ts';
import { shownPlace } from './shown-place.ts';
import type { Values } from './values.ts';
import { DeliveryRefusal, HIDDEN, NO_VALUES, SOME_VALUES } from './values.ts';

export const createHttpDriver: CreateDriver = (target, context) => {
  const variant = linkVariant(target);
  return typeof variant === 'string' ? variant : new HttpDriver(target, variant, context);
};

/** Most deliveries that are remembered as not sent. */
const MAX_REMEMBERED = 1000;

class HttpDriver implements Driver {
  private readonly target: BoundTarget;
  private readonly variant: LinkedVariant;
  private readonly context: DeliveryContext;
  private readonly sender: PieceSender;
  /** Identifies the credentials and their server, for the token cache and the pace. */
  private readonly account: string;
  /** Some value for each content field, to tell whether an address is right. */
  private readonly someContent: Values['content'];
  readonly findLogin?: FindLogin;
  /** Null: the target cannot look for what was posted before. */
  private readonly find: FindPosted | null;
  /** Keys whose last attempt posted nothing for certain, so that nothing is looked for. */
  private readonly unsent = new Set<string>();
  /** The latest attempt of each series under way: two at once would both find nothing. */
  private readonly turns = new Map<string, Promise<unknown>>();

  constructor(target: BoundTarget, variant: LinkedVariant, context: DeliveryContext) {
    this.target = target;
    this.variant = variant;
    const { webhook } = variant.plan;
    this.context = webhook?.allow_private === false ? { ...context, http: context.http.publicOnly() } : context;
    this.account = accountOf(target, variant);
    this.someContent = Object.fromEntries((target.plan.content ?? []).map(({ name }) => [name, 'x']));
    this.sender = createPieceSender(variant, this.account, this.context);
    const findLogin = linkFindLogin(variant, target, this.account, this.context);
    this.find = linkFindPosted({ variant, sender: this.sender, findLogin });
    if (variant.plan.login !== undefined) this.findLogin = findLogin;
  }

  chatId(request: Addressed): string | null {
    const address = this.variant.resolveAddress(request);
    return typeof address === 'string' ? null : (address.get('chat_id') ?? null);
  }

  refusal(request: Addressed): string | null {
    const prepared = prepareAddress(this.variant, request);
    if (typeof prepared === 'string') return prepared;
    const { form, address } = prepared;
    const some = { ...SOME_VALUES, ...this.variant.sign(0), content: this.someContent };
    return refusalOf(() => form.request.build({ ...some, address, match: form.match }));
  }

  place(): ShownPlace {
    return shownPlace(this.target, this.variant);
  }

  async probe({ live, signal }: ProbeOptions): Promise<readonly Probe[]> {
    if (!live) return [notLive('host')];
    const host = await probeHost(this.variant.base, signal, this.context);
    const hasToken = host.status === 'ok' && this.variant.exchange?.perAddress === false;
    const token = hasToken ? await this.sender.token(NO_VALUES, signal) : null;
    if (token === null) {
      const account = host.status === 'ok' ? await probeAccount(this.variant, signal, this.context) : null;
      return account === null ? [host] : [host, { ...account, detail: this.target.redact(account.detail) }];
    }
    if (token.kind === 'token') return [host, probed('token', 'the credentials were exchanged for a token')];
    return [host, probeFailed('token', this.target.redact(token.reason), 'check the credentials of the target')];
  }

  async show(request: DeliveryRequest): Promise<readonly ShownDelivery[]> {
    const prepared = await prepareDelivery(this.target, this.variant, request);
    const { base } = this.variant;
    const { settings } = this.target;
    return prepared.pieces.map((_, index) => {
      const values = { ...this.valuesOf(prepared, request, index), exchanged_token: HIDDEN };
      const shown = showRequest(prepared.form.request.plan, values, { base, settings });
      const added = this.variant.webhook?.(shown.body, values) ?? {};
      return { kind: 'http', ...shown, headers: { ...shown.headers, ...hideSignature(added) } };
    });
  }

  async deliver(request: DeliveryRequest): Promise<DeliveryOutcome> {
    const prepared = await prepareDelivery(this.target, this.variant, request);
    const { series } = prepared;
    if (series === null) return this.sendPieces(prepared, request);
    const turn = (this.turns.get(series) ?? Promise.resolve()).then(() => this.sendPieces(prepared, request));
    const ended = turn.then(NOTHING, NOTHING).then(() => {
      if (this.turns.get(series) === ended) this.turns.delete(series);
    });
    this.turns.set(series, ended);
    return turn;
  }

  private async sendPieces(prepared: PreparedDelivery, request: DeliveryRequest): Promise<DeliveryOutcome> {
    const rules = this.paceRules(prepared.address);
    const isDoubtful = request.first_attempt_at !== null && !this.unsent.has(request.key);
    this.unsent.delete(request.key);
    let messageId: string | null = null;
    for (let index = request.sent; index < prepared.pieces.length; index++) {
      // A long run of blanks gives blank pieces, which services refuse as empty.
      if (prepared.pieces.length > 1 && prepared.pieces[index]?.trim() === '') continue;
      const slot = rules.length === 0 ? null : await this.context.pace.take(rules, request.signal);
      if (slot?.kind === 'later') {
        const wait = { retry_after_ms: slot.wait_ms, attempted: false, sent: index };
        return failed('retry', "held back to keep within the target's limits", wait);
      }
      const values = this.valuesOf(prepared, request, index);
      const mark = prepared.series ?? (isDoubtful && index === request.sent ? values.key : null);
      const result =
        mark === null || this.find === null
          ? await this.sender.send(prepared.form.request, values, request)
          : await this.sendOnce(this.find, { mark, prepared, values, request });
      if (result.kind !== 'ok') {
        if (result.kind === 'retry' && !isDoubtful) this.rememberUnsent(request.key);
        return this.toOutcome(result, request, index);
      }
      messageId = result.message_id === null ? null : this.target.redact(result.message_id);
    }
    return { kind: 'ok', message_id: messageId, sent: prepared.pieces.length };
  }

  /** Posts what is not there yet; replaces what is, in a series. */
  private async sendOnce(find: FindPosted, { mark, prepared, values, request }: Once): Promise<DeliveryResult> {
    const found = await find(mark, { ...values, since: sinceOf(prepared, request) }, request);
    if (found.kind === 'none') return this.sender.send(prepared.form.request, values, request);
    if (found.kind !== 'found') return found;
    const isThere = { kind: 'ok', message_id: found.message_id, json: undefined } as const;
    // A late attempt must not replace what a later run has said.
    if (prepared.update === null || isNewerMarker(found.text, values.marker)) return isThere;
    return this.sender.send(prepared.update, { ...values, found: found.id }, request);
  }

  private rememberUnsent(key: string): void {
    if (this.unsent.size >= MAX_REMEMBERED) this.unsent.clear();
    this.unsent.add(key);
  }

  private paceRules(address: PreparedDelivery['address']): readonly PaceRule[] {
    return this.variant.pacing.map((plan) => {
      const key = plan.per === 'chat' ? `${this.account} ${address.get('chat_id') ?? ''}` : this.account;
      return { key, plan };
    });
  }

  private valuesOf(
    { form, address, pieces, content, series }: PreparedDelivery,
    request: DeliveryRequest,
    index: number,
  ): Values {
    const { marker = '', route, delivery_id } = request;
    const key = form.request.usesKey ? idempotencyKey(this.variant.plan.key, request.key, index) : '';
    const now = this.context.clock.now();
    return {
      ...{ ...NO_VALUES, ...this.variant.sign(now), text: pieces[index] ?? '', content },
      ...{ address, match: form.match, key, marker, marks: marksOf({ key, series, marker }) },
      ...{ piece: index + 1, pieces: pieces.length, route, delivery_id, trace: traceHeaders(request) },
      time: new Date(request.first_attempt_at ?? now).toISOString(),
    };
  }

  private toOutcome(
    result: Exclude<DeliveryResult, { kind: 'ok' }>,
    request: DeliveryRequest,
    sent: number,
  ): DeliveryOutcome {
    const kind = result.kind === 'refresh' ? 'permanent' : result.kind;
    const now = this.context.clock.now();
    const isRecognised = now - (request.first_attempt_at ?? now) < this.variant.plan.key.window_ms;
    const idempotent = this.find !== null || isRecognised;
    return failed(kind, this.target.redact(result.reason), {
      retry_after_ms: result.retry_after_ms,
      idempotent,
      sent,
    });
  }
}

interface Once {
  readonly mark: string;
  readonly prepared: PreparedDelivery;
  readonly values: Values;
  readonly request: DeliveryRequest;
}

const NOTHING = (): void => undefined;

/** Hidden in Markdown, and sent back by the code host. */
const marksOf = ({ key, series, marker }: { key: string; series: string | null; marker: string }): string =>
  [`delivery:${key}`, ...(series === null ? [] : [`series:${series}`]), ...(marker === '' ? [] : [marker])]
    .map((mark) => `<!-- ${mark} -->\n`)
    .join('');

/** Clocks may differ by that much. */
const SINCE_MARGIN_MS = 15 * 60_000;

/** A piece cannot have been posted before the first attempt; a post of a series may be older. */
const sinceOf = ({ series }: PreparedDelivery, { first_attempt_at: first }: DeliveryRequest): string =>
  series !== null || first === null ? '' : `${new Date(first - SINCE_MARGIN_MS).toISOString().slice(0, 19)}Z`;

/** A signature of a body whose secrets are hidden is not the one that is sent. */
const hideSignature = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  'webhook-signature' in headers ? { ...headers, 'webhook-signature': HIDDEN } : headers;

/** What a value that is missing, or not allowed in its place, is refused with. */
function refusalOf(build: () => unknown): string | null {
  try {
    build();
    return null;
  } catch (error) {
    if (error instanceof DeliveryRefusal) return error.message;
    throw error;
  }
}

/** Deliveries with the same credentials at the same server share a token and a pace, in all profiles. */
function accountOf({ plan, settings, apiBase }: BoundTarget, variant: LinkedVariant): string {
  const named = [...settings].sort(([left], [right]) => (left < right ? -1 : 1));
  const text = JSON.stringify([plan.name, variant.plan.name, apiBase, variant.base.origin, named]);
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
