/**
 * The one executor of all declarative HTTP targets.
 *
 *   address → form of the request → pieces of the text → for each piece not yet sent:
 *   pace → token (cached) → build → send → judge; on `refresh` once more with a new token.
 *
 * The first piece that is not ok ends the attempt; `sent` says how many are through, and the next attempt goes on there.
 */
import { createHash } from 'node:crypto';
import type { DeliveryOutcome, DeliveryRequest } from '../deliverer.ts';
import type { BoundTarget, CreateDriver, DeliveryContext, Driver, Shown } from '../driver.ts';
import { failed } from '../outcome.ts';
import type { PaceRule } from '../pace.ts';
import type { Probe, ProbeOptions } from '../probe.ts';
import { notLive, probed, probeFailed } from '../probe.ts';
import { preparePieces } from '../text/prepare-pieces.ts';
import { buildRequest, showRequest } from './build-request.ts';
import { idempotencyKey } from './idempotency-key.ts';
import type { Verdict } from './judge.ts';
import type { LinkedVariant, PickRequest } from './link-variant.ts';
import { linkVariant } from './link-variant.ts';
import { probeHost } from './probe-http.ts';
import { readResponse } from './response.ts';
import { sendRequest } from './send-request.ts';
import { sign } from './sign.ts';
import type { TokenResult } from './token-cache.ts';
import type { Values } from './values.ts';
import { DeliveryRefusal, HIDDEN, NO_VALUES } from './values.ts';

export const createHttpDriver: CreateDriver = (target, context) => {
  const variant = linkVariant(target);
  return typeof variant === 'string' ? variant : new HttpDriver(target, variant, context);
};

/** One delivery made ready: everything its pieces share. */
interface Prepared {
  readonly form: NonNullable<ReturnType<PickRequest>>;
  readonly values: Values;
  readonly pieces: readonly string[];
  readonly rules: readonly PaceRule[];
}

class HttpDriver implements Driver {
  private readonly target: BoundTarget;
  private readonly variant: LinkedVariant;
  private readonly context: DeliveryContext;
  /** Names these credentials at this server, for the token cache and the pace. */
  private readonly account: string;

  constructor(target: BoundTarget, variant: LinkedVariant, context: DeliveryContext) {
    this.target = target;
    this.variant = variant;
    this.context = context;
    this.account = accountOf(target, variant);
  }

  chatId(request: Pick<DeliveryRequest, 'extra' | 'unresolved'>): string | null {
    const address = this.variant.resolveAddress(request);
    return typeof address === 'string' ? null : (address.get('chat_id') ?? null);
  }

  async probe({ live, signal }: ProbeOptions): Promise<readonly Probe[]> {
    const { base, exchange } = this.variant;
    if (!live) return [notLive('host')];
    const host = await probeHost(base, signal, this.context);
    if (exchange === null || host.status !== 'ok') return [host];
    const result = await this.token({ ...NO_VALUES, settings: this.target.settings }, signal);
    if (result?.kind === 'token') return [host, probed('token', 'the credentials were exchanged for a token')];
    return [
      host,
      probeFailed('token', this.target.redact(result?.reason ?? ''), 'check the credentials of the target'),
    ];
  }

  async show(request: DeliveryRequest): Promise<readonly Shown[]> {
    const prepared = this.prepare(request);
    return prepared.pieces.map((_, index) => {
      const values = { ...this.valuesOf(prepared, request, index), exchanged_token: HIDDEN };
      return { kind: 'http', ...showRequest({ plan: prepared.form.plan, base: this.variant.base }, values) };
    });
  }

  async deliver(request: DeliveryRequest): Promise<DeliveryOutcome> {
    const prepared = this.prepare(request);
    let messageId: string | null = null;
    for (let index = request.sent; index < prepared.pieces.length; index++) {
      // Blank pieces come from long runs of blanks: services refuse them as empty.
      if (prepared.pieces[index]?.trim() === '') continue;
      const slot = await this.context.pace.take(prepared.rules, request.signal);
      if (slot.kind === 'later') {
        const wait = { retry_after_ms: slot.wait_ms, attempted: false, sent: index };
        return failed('retry', "held back to keep within the target's limits", wait);
      }
      const verdict = await this.sendPiece(prepared, request, index);
      if (verdict.kind !== 'ok') return this.toOutcome(verdict, request, index);
      messageId = verdict.message_id === null ? null : this.target.redact(verdict.message_id);
    }
    return { kind: 'ok', message_id: messageId, sent: prepared.pieces.length };
  }

  private prepare(request: DeliveryRequest): Prepared {
    const { plan, resolveAddress, pickRequest, paced } = this.variant;
    const address = resolveAddress(request);
    if (typeof address === 'string') throw new DeliveryRefusal(address);
    const form = pickRequest(address);
    if (form === null) throw new DeliveryRefusal(noForm(address.has('chat_id')));
    const pieces = preparePieces(plan.text, request.text);
    if (pieces.kind === 'refused') throw new DeliveryRefusal(pieces.reason);
    const chat = `${this.account} ${address.get('chat_id') ?? ''}`;
    const rules = paced
      ? plan.pacing.map((pace) => ({ key: pace.per === 'chat' ? chat : this.account, plan: pace }))
      : [];
    const own = { address, match: form.match, settings: this.target.settings, pieces: pieces.pieces.length };
    return { form, values: { ...NO_VALUES, ...own }, pieces: pieces.pieces, rules };
  }

  private valuesOf({ values, pieces }: Prepared, request: DeliveryRequest, index: number): Values {
    const { plan } = this.variant;
    const own = {
      ...values,
      text: pieces[index] ?? '',
      key: idempotencyKey(plan.key, request.key, index),
      piece: index + 1,
    };
    return { ...own, ...sign(plan.signature, own, this.context.clock.now()) };
  }

  private async sendPiece(prepared: Prepared, request: DeliveryRequest, index: number): Promise<Verdict> {
    const values = this.valuesOf(prepared, request, index);
    const first = await this.sendOnce(prepared, values, request.signal);
    if (first.kind !== 'refresh') return first;
    const second = await this.sendOnce(prepared, values, request.signal);
    return second.kind === 'refresh' ? { ...second, kind: 'permanent' } : second;
  }

  private async sendOnce(prepared: Prepared, values: Values, signal: AbortSignal): Promise<Verdict> {
    const token = await this.token(values, signal);
    if (token !== null && token.kind !== 'token') return token;
    const exchanged = token === null ? values : { ...values, exchanged_token: token.token };
    const { plan, base, judge } = this.variant;
    const request = buildRequest({ plan: prepared.form.plan, base }, exchanged);
    const result = await sendRequest(request, { ...plan, signal }, this.context);
    if (result.kind === 'failed') {
      const reason = result.sent ? `no answer (${result.code})` : `not reached (${result.code})`;
      return { kind: result.sent ? 'ambiguous' : 'retry', reason, retry_after_ms: null };
    }
    const verdict = judge(readResponse(result), this.context.clock.now());
    if (token === null) return verdict;
    if (verdict.kind === 'refresh') this.context.tokens.drop(this.account, token.token);
    return hideToken(verdict, token.token);
  }

  /** null for targets without an exchange. */
  private token(values: Values, signal: AbortSignal): Promise<TokenResult | null> {
    const { exchange } = this.variant;
    if (exchange === null) return Promise.resolve(null);
    const result = this.context.tokens.get(this.account, () => exchange(values, this.context));
    return untilAborted(result, signal);
  }

  private toOutcome(
    verdict: Exclude<Verdict, { kind: 'ok' }>,
    request: DeliveryRequest,
    sent: number,
  ): DeliveryOutcome {
    const kind = verdict.kind === 'refresh' ? 'permanent' : verdict.kind;
    const { window_ms } = this.variant.plan.key;
    const age = this.context.clock.now() - (request.first_attempt_at ?? this.context.clock.now());
    const reason = this.target.redact(verdict.reason);
    return failed(kind, reason, { retry_after_ms: verdict.retry_after_ms, idempotent: age < window_ms, sent });
  }
}

/** A service that echoes the token has no say in what is logged. */
function hideToken(verdict: Verdict, token: string): Verdict {
  if (verdict.kind !== 'ok') return { ...verdict, reason: verdict.reason.replaceAll(token, HIDDEN) };
  return verdict.message_id?.includes(token) === true ? { ...verdict, message_id: null } : verdict;
}

function noForm(hasChat: boolean): string {
  return hasChat ? 'chat_id does not have one of the forms that this target takes' : 'no chat_id and no home_channel';
}

/** Deliveries with equal credentials at one server share a token and a pace, whatever profile they belong to. */
function accountOf({ plan, settings, apiBase }: BoundTarget, variant: LinkedVariant): string {
  const named = [...settings].sort(([left], [right]) => (left < right ? -1 : 1));
  const text = JSON.stringify([plan.name, variant.plan.name, apiBase, variant.base.origin, named]);
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** A delivery that is given up does not wait for the token; the exchange itself goes on for the others. */
function untilAborted(result: Promise<TokenResult>, signal: AbortSignal): Promise<TokenResult> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve({ kind: 'retry', reason: 'no token in time', retry_after_ms: null });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
