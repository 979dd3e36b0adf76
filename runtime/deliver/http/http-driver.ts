/**
 * The driver of all declarative HTTP targets.
 *
 *   address → form of the request → pieces of the text → for each piece not yet sent:
 *   pace → token (cached) → build → send → classify; on `refresh` once more with a new token.
 *
 * The first piece that fails ends the attempt. `sent` is the number of pieces delivered; the next attempt resumes there.
 */
import { createHash } from 'node:crypto';
import type { ShownPlace } from '../../../schemas/generated/types.ts';
import { traceHeaders } from '../../platform/tracing.ts';
import type { Addressed, DeliveryOutcome, DeliveryRequest } from '../deliverer.ts';
import { failed } from '../deliverer.ts';
import type { BoundTarget, CreateDriver, DeliveryContext, Driver, ShownDelivery } from '../driver.ts';
import type { PaceRule } from '../pace.ts';
import type { Probe, ProbeOptions } from '../probe.ts';
import { notLive, probed, probeFailed } from '../probe.ts';
import type { DeliveryResult } from './classify-response.ts';
import type { LinkTokens } from './exchange-token.ts';
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

/** Sends the piece of these values. */
export type SendPiece = (values: Values, index: number) => Promise<DeliveryResult>;

/** What a module adds to the deliveries of a target. */
export interface Posting {
  /** See `Driver`. */
  readonly ownLogin?: () => string | null;
  /** Makes one attempt: `send` sends the pieces in their order, each as it is told to. Default: each is sent. */
  readonly attempt?: (
    prepared: PreparedDelivery,
    request: DeliveryRequest,
    send: (piece: SendPiece) => Promise<DeliveryOutcome>,
  ) => Promise<DeliveryOutcome>;
}

export interface PostingParts {
  readonly target: BoundTarget;
  readonly variant: LinkedVariant;
  readonly sender: PieceSender;
  /** Identifies the credentials and their server. */
  readonly account: string;
  readonly context: DeliveryContext;
}

/** What a module adds to this driver. */
export interface HttpExtension {
  readonly linkTokens: LinkTokens;
  readonly linkPosting: (parts: PostingParts) => Posting;
}

export const createHttpDriver: CreateDriver = (target, context) => extendHttpDriver({})(target, context);

/** The driver with what a module adds. */
export const extendHttpDriver =
  ({ linkTokens, linkPosting }: Partial<HttpExtension>): CreateDriver =>
  (target, context) => {
    const variant = linkVariant(target, linkTokens);
    return typeof variant === 'string' ? variant : new HttpDriver(target, variant, context, linkPosting);
  };

class HttpDriver implements Driver {
  private readonly target: BoundTarget;
  private readonly variant: LinkedVariant;
  private readonly context: DeliveryContext;
  private readonly sender: PieceSender;
  /** Identifies the credentials and their server, for the token cache and the pace. */
  private readonly account: string;
  /** Some value for each content field, to tell whether an address is right. */
  private readonly someContent: Values['content'];
  private readonly posting: Posting;

  constructor(
    target: BoundTarget,
    variant: LinkedVariant,
    context: DeliveryContext,
    linkPosting: HttpExtension['linkPosting'] = () => ({}),
  ) {
    this.target = target;
    this.variant = variant;
    const { webhook } = variant.plan;
    this.context = webhook?.allow_private === false ? { ...context, http: context.http.publicOnly() } : context;
    this.account = accountOf(target, variant);
    this.someContent = Object.fromEntries((target.plan.content ?? []).map(({ name }) => [name, 'x']));
    this.sender = createPieceSender(variant, this.account, this.context);
    const { sender, account } = this;
    this.posting = linkPosting({ target, variant, sender, account, context: this.context });
  }

  ownLogin(): string | null {
    return this.posting.ownLogin?.() ?? null;
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
    const send = (piece: SendPiece): Promise<DeliveryOutcome> => this.sendPieces(prepared, request, piece);
    const { attempt } = this.posting;
    if (attempt !== undefined) return attempt(prepared, request, send);
    return send((values) => this.sender.send(prepared.form.request, values, request));
  }

  private async sendPieces(
    prepared: PreparedDelivery,
    request: DeliveryRequest,
    send: SendPiece,
  ): Promise<DeliveryOutcome> {
    const rules = this.paceRules(prepared.address);
    let messageId: string | null = null;
    for (let index = request.sent; index < prepared.pieces.length; index++) {
      // A long run of blanks gives blank pieces, which services refuse as empty.
      if (prepared.pieces.length > 1 && prepared.pieces[index]?.trim() === '') continue;
      const slot = rules.length === 0 ? null : await this.context.pace.take(rules, request.signal);
      if (slot?.kind === 'later') {
        const wait = { retry_after_ms: slot.wait_ms, attempted: false, sent: index };
        return failed('retry', "held back to keep within the target's limits", wait);
      }
      const result = await send(this.valuesOf(prepared, request, index), index);
      if (result.kind !== 'ok') return this.toOutcome(result, request, index);
      messageId = result.message_id === null ? null : this.target.redact(result.message_id);
    }
    return { kind: 'ok', message_id: messageId, sent: prepared.pieces.length };
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
      ...NO_VALUES,
      ...this.variant.sign(now),
      text: pieces[index] ?? '',
      content,
      address,
      match: form.match,
      key,
      marker,
      marks: marksOf({ key, series, marker }),
      piece: index + 1,
      pieces: pieces.length,
      route,
      delivery_id,
      trace: traceHeaders(request),
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
    const idempotent = now - (request.first_attempt_at ?? now) < this.variant.plan.key.window_ms;
    return failed(kind, this.target.redact(result.reason), {
      retry_after_ms: result.retry_after_ms,
      idempotent,
      sent,
    });
  }
}

/** Hidden in Markdown, and sent back by the code host. */
const marksOf = ({ key, series, marker }: { key: string; series: string | null; marker: string }): string =>
  [`delivery:${key}`, ...(series === null ? [] : [`series:${series}`]), ...(marker === '' ? [] : [marker])]
    .map((mark) => `<!-- ${mark} -->\n`)
    .join('');

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
