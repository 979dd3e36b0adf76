/**
 * The driver of all declarative HTTP targets.
 *
 *   address → form of the request → pieces of the text → for each piece not yet sent:
 *   pace → token (cached) → build → send → classify; on `refresh` once more with a new token.
 *
 * The first piece that fails ends the attempt. `sent` is the number of pieces delivered; the next attempt resumes there.
 */
import { createHash } from 'node:crypto';
import type { Addressed, DeliveryOutcome, DeliveryRequest } from '../deliverer.ts';
import { failed } from '../deliverer.ts';
import type { BoundTarget, CreateDriver, DeliveryContext, Driver, ShownDelivery } from '../driver.ts';
import type { PaceRule } from '../pace.ts';
import type { Probe, ProbeOptions } from '../probe.ts';
import { notLive, probed, probeFailed } from '../probe.ts';
import { preparePieces } from '../text/prepare-pieces.ts';
import type { DeliveryResult } from './classify-response.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { showRequest } from './link-request.ts';
import type { LinkedVariant, PickRequest } from './link-variant.ts';
import { linkVariant } from './link-variant.ts';
import { probeAccount, probeHost } from './probe-http.ts';
import type { PieceSender } from './send-piece.ts';
import { createPieceSender } from './send-piece.ts';
import type { Values } from './values.ts';
import { DeliveryRefusal, HIDDEN } from './values.ts';

export const createHttpDriver: CreateDriver = (target, context) => {
  const variant = linkVariant(target);
  return typeof variant === 'string' ? variant : new HttpDriver(target, variant, context);
};

/** Everything that the pieces of a delivery share. */
interface Prepared {
  readonly form: NonNullable<ReturnType<PickRequest>>;
  readonly address: Values['address'];
  readonly pieces: readonly string[];
}

class HttpDriver implements Driver {
  private readonly target: BoundTarget;
  private readonly variant: LinkedVariant;
  private readonly context: DeliveryContext;
  private readonly sender: PieceSender;
  /** Identifies the credentials and their server, for the token cache and the pace. */
  private readonly account: string;
  /** Some value for each content field, to tell whether an address is right. */
  private readonly someContent: Values['content'];

  constructor(target: BoundTarget, variant: LinkedVariant, context: DeliveryContext) {
    this.target = target;
    this.variant = variant;
    this.context = context;
    this.account = accountOf(target, variant);
    this.someContent = Object.fromEntries((target.plan.content ?? []).map(({ name }) => [name, 'x']));
    this.sender = createPieceSender(variant, this.account, context);
  }

  chatId(request: Addressed): string | null {
    const address = this.variant.resolveAddress(request);
    return typeof address === 'string' ? null : (address.get('chat_id') ?? null);
  }

  refusal(request: Addressed): string | null {
    const prepared = this.prepareAddress(request);
    if (typeof prepared === 'string') return prepared;
    const { form, address } = prepared;
    const some = {
      ...this.variant.sign(0),
      text: 'x',
      content: this.someContent,
      key: 'x',
      marker: '',
      exchanged_token: 'x',
      piece: 1,
      pieces: 1,
    };
    return refusalOf(() => form.request.build({ ...some, address, match: form.match }));
  }

  async probe({ live, signal }: ProbeOptions): Promise<readonly Probe[]> {
    if (!live) return [notLive('host')];
    const host = await probeHost(this.variant.base, signal, this.context);
    const token = host.status === 'ok' ? await this.sender.token(signal) : null;
    if (token === null) {
      const account = host.status === 'ok' ? await probeAccount(this.variant, signal, this.context) : null;
      return account === null ? [host] : [host, { ...account, detail: this.target.redact(account.detail) }];
    }
    if (token.kind === 'token') return [host, probed('token', 'the credentials were exchanged for a token')];
    return [host, probeFailed('token', this.target.redact(token.reason), 'check the credentials of the target')];
  }

  async show(request: DeliveryRequest): Promise<readonly ShownDelivery[]> {
    const prepared = this.prepare(request);
    const { base } = this.variant;
    const { settings } = this.target;
    return prepared.pieces.map((_, index) => {
      const values = { ...this.valuesOf(prepared, request, index), exchanged_token: HIDDEN };
      return { kind: 'http', ...showRequest(prepared.form.request.plan, values, { base, settings }) };
    });
  }

  async deliver(request: DeliveryRequest): Promise<DeliveryOutcome> {
    const prepared = this.prepare(request);
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
      const values = this.valuesOf(prepared, request, index);
      const result = await this.sender.send(prepared.form.request, values, request.signal);
      if (result.kind !== 'ok') return this.toOutcome(result, request, index);
      messageId = result.message_id === null ? null : this.target.redact(result.message_id);
    }
    return { kind: 'ok', message_id: messageId, sent: prepared.pieces.length };
  }

  private prepare(request: DeliveryRequest): Prepared {
    const prepared = this.prepareAddress(request);
    if (typeof prepared === 'string') throw new DeliveryRefusal(prepared);
    // An output of a target that needs no text may have none.
    if (request.content !== undefined && request.text === '') return { ...prepared, pieces: [''] };
    const pieces = preparePieces(this.variant.plan.text, request.text);
    if (pieces.kind === 'refused') throw new DeliveryRefusal(pieces.reason);
    return { ...prepared, pieces: pieces.pieces };
  }

  /** The address and the form of the request, or why there is none. */
  private prepareAddress(request: Addressed): Pick<Prepared, 'form' | 'address'> | string {
    const address = this.variant.resolveAddress(request);
    if (typeof address === 'string') return address;
    const form = this.variant.pickRequest(address);
    return form === null ? noForm(address.has('chat_id')) : { form, address };
  }

  private paceRules(address: Prepared['address']): readonly PaceRule[] {
    return this.variant.pacing.map((plan) => {
      const key = plan.per === 'chat' ? `${this.account} ${address.get('chat_id') ?? ''}` : this.account;
      return { key, plan };
    });
  }

  private valuesOf({ form, address, pieces }: Prepared, request: DeliveryRequest, index: number): Values {
    const { timestamp, signature } = this.variant.sign(this.context.clock.now());
    return {
      text: pieces[index] ?? '',
      content: request.content ?? {},
      address,
      match: form.match,
      key: form.request.usesKey ? idempotencyKey(this.variant.plan.key, request.key, index) : '',
      marker: request.marker ?? '',
      piece: index + 1,
      pieces: pieces.length,
      timestamp,
      signature,
      exchanged_token: '',
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

function noForm(hasChat: boolean): string {
  return hasChat ? 'chat_id does not have one of the forms that this target takes' : 'no chat_id and no home_channel';
}

/** Deliveries with the same credentials at the same server share a token and a pace, in all profiles. */
function accountOf({ plan, settings, apiBase }: BoundTarget, variant: LinkedVariant): string {
  const named = [...settings].sort(([left], [right]) => (left < right ? -1 : 1));
  const text = JSON.stringify([plan.name, variant.plan.name, apiBase, variant.base.origin, named]);
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
