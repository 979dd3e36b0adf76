/**
 * The driver of all declarative HTTP targets.
 *
 *   address → form of the request → pieces of the text → for each piece not yet sent:
 *   pace → token (cached) → build → send → classify; on `refresh` again with a new token.
 *
 * The first piece that fails ends the attempt. `sent` is the number of pieces delivered; the next attempt resumes there.
 */

import { createHash } from 'node:crypto';
import type { BaseUrl } from '../../../base/net.ts';
import { isBlank } from '../../../base/text.ts';
import type { ShownPlace } from '../../../schemas/generated/types.ts';
import { traceHeaders } from '../../platform/log.ts';
import { noForm } from '../address.ts';
import type {
  Addressed,
  BoundTarget,
  CreateDriver,
  DeliveryContext,
  DeliveryOutcome,
  DeliveryRequest,
  Driver,
  Probe,
  ProbeOptions,
  ShownDelivery,
} from '../deliverer.ts';
import { failed, notLive, probed, probeFailed, probeSkipped } from '../deliverer.ts';
import type { PaceRule } from '../pace.ts';
import { prepareText, quietText } from '../prepare-text.ts';
import type { DeliveryResult } from './classify-response.ts';
import { linkClassifier, readResponse } from './classify-response.ts';
import type { LinkTokens } from './exchange-token.ts';
import { showRequest } from './link-request.ts';
import type { LinkedRequest, LinkedVariant, PickRequest } from './link-variant.ts';
import { idempotencyKey, linkVariant, shownDestination } from './link-variant.ts';
import type { PieceSender } from './send-piece.ts';
import { createPieceSender } from './send-piece.ts';
import { sendRequest } from './send-request.ts';
import type { Values } from './values.ts';
import { DeliveryRefusal, HIDDEN, NO_VALUES, SOME_VALUES } from './values.ts';

/** Sends the piece of these values. */
export type SendPiece = (values: Values, index: number) => Promise<DeliveryResult>;

/** Extension of a module for the deliveries of a target. */
export interface Posting {
  /** See `Driver`. */
  readonly ownLogin?: () => string | null;
  /** Makes one attempt. It decides which pieces `send` sends, in their order. Default: all. */
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

interface HttpExtension {
  readonly linkTokens: LinkTokens;
  readonly linkPosting: (parts: PostingParts) => Posting;
}

export const createHttpDriver: CreateDriver = (target, context) => extendHttpDriver({})(target, context);

/** The driver with the extension of a module. */
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
  /** A sample value for each content field, to check an address. */
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
    return shownDestination(this.target, this.variant);
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
    if (token.kind === 'token') return [host, probed('token', 'received a token for the credentials')];
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
      // A long run of blanks gives blank pieces, which services reject as empty.
      if (prepared.pieces.length > 1 && isBlank(prepared.pieces[index] ?? '')) continue;
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
    const { marker = '', approval = '', route, delivery_id, pins = {} } = request;
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
      commit: [pins.fresh, pins.commit].find((one = '') => COMMIT.test(one)) ?? '',
      approval,
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

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Marks that are invisible in Markdown and that the code host returns unchanged. */
const marksOf = ({ key, series, marker }: { key: string; series: string | null; marker: string }): string =>
  [`delivery:${key}`, ...(series === null ? [] : [`series:${series}`]), ...(marker === '' ? [] : [marker])]
    .map((mark) => `<!-- ${mark} -->\n`)
    .join('');

/** The shown body has its secrets hidden, so its signature would differ from the one that is sent. */
const hideSignature = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  'webhook-signature' in headers ? { ...headers, 'webhook-signature': HIDDEN } : headers;

/** The refusal of a value that is missing or not allowed in its place; null if there is none. */
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

/** Data that the pieces of a delivery share. */
export interface PreparedDelivery {
  readonly form: NonNullable<ReturnType<PickRequest>>;
  readonly address: Values['address'];
  readonly pieces: readonly string[];
  readonly content: Values['content'];
  /** The request that replaces a post; null: the post is left unchanged. */
  readonly update: LinkedRequest | null;
  /** Id of the series that is kept in one post; null: every piece is a new post. */
  readonly series: string | null;
}

type Entry = Readonly<Record<string, string | number>>;

/** @throws DeliveryRefusal */
async function prepareDelivery(
  target: BoundTarget,
  variant: LinkedVariant,
  request: DeliveryRequest,
): Promise<PreparedDelivery> {
  const prepared = prepareAddress(variant, request);
  if (typeof prepared === 'string') throw new DeliveryRefusal(prepared);
  const { address } = prepared;
  const isUpsert = address.get('mode') === 'upsert' && variant.pickUpdate !== null;
  const update = isUpsert ? (variant.pickUpdate?.(address)?.request ?? null) : null;
  const { series: name } = request;
  const series = isUpsert && name !== undefined ? seriesAt(name, prepared.form.match, address) : null;
  const all = { ...prepared, update, series, content: await readContent(target, variant, request, address) };
  // An output may have no text if its target needs none.
  if (request.content !== undefined && request.text === '') return { ...all, pieces: [''] };
  const { text } = variant.plan;
  const pieces = await prepareText(series === null ? text : { ...text, overflow: 'truncate' }, request.text);
  if (pieces.kind === 'refused') throw new DeliveryRefusal(pieces.reason);
  return { ...all, pieces: pieces.pieces };
}

/** Content fields of the agent, with their texts converted for the target. */
async function readContent(
  target: BoundTarget,
  variant: LinkedVariant,
  { content = {} }: DeliveryRequest,
  address: Values['address'],
): Promise<Values['content']> {
  const read: Record<string, Values['content'][string]> = {};
  for (const { name, required, members = [] } of target.plan.content ?? []) {
    const value = Object.hasOwn(content, name) ? content[name] : undefined;
    if (value === undefined && required && name !== 'text' && !address.has(name))
      throw new DeliveryRefusal(`the target requires \`${name}\`, which only an output can provide`);
    if (value === undefined) continue;
    const markup = new Set(members.filter(({ kind }) => kind === 'markup').map((member) => member.name));
    read[name] = markup.size === 0 ? value : await quietObjects(variant, value as readonly Entry[], markup);
  }
  return read;
}

function quietObjects(variant: LinkedVariant, value: readonly Entry[], markup: ReadonlySet<string>): Promise<Entry[]> {
  const quiet = async ([name, member]: readonly [string, string | number]): Promise<[string, string | number]> => [
    name,
    markup.has(name) ? await quietText(variant.plan.text, String(member)) : member,
  ];
  return Promise.all(
    value.map(async (entry) => Object.fromEntries(await Promise.all(Object.entries(entry).map(quiet)))),
  );
}

/** Returns the address and the form of the request, or why there is none. */
function prepareAddress(
  variant: LinkedVariant,
  request: Addressed,
): Pick<PreparedDelivery, 'form' | 'address'> | string {
  const address = variant.resolveAddress(request);
  if (typeof address === 'string') return address;
  const form = variant.pickRequest(address);
  return form === null ? noForm(address, request) : { form, address };
}

/** A series has one post at each address. */
function seriesAt(name: string, match: Values['match'], address: Values['address']): string {
  const place = [...match, ...address].filter(([key]) => key !== 'mode');
  return createHash('sha256')
    .update(JSON.stringify([name, place]), 'utf8')
    .digest('hex')
    .slice(0, 32);
}

/** Timeout of a request, in ms. */
const TIMEOUT_MS = 10_000;

const CHECK = 'host';

type ProbeContext = Pick<DeliveryContext, 'http' | 'clock'>;

/** Checks that the server responds; any response to `GET /` will do. */
async function probeHost({ origin }: BaseUrl, signal: AbortSignal, context: ProbeContext): Promise<Probe> {
  const request = { origin, method: 'GET', path: '/', headers: {}, body: null } as const;
  const result = await sendRequest(request, { max_response_bytes: 1024, timeout_ms: TIMEOUT_MS, signal }, context);
  if (result.kind === 'response') {
    const date = result.headers.date;
    const time = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    return probed(CHECK, `${origin} answers`, Number.isNaN(time) ? null : time);
  }
  const fix = 'check the address, and the DNS, proxy and firewall of this machine';
  return probeFailed(CHECK, `${origin} is unreachable (${result.code})`, fix);
}

const ACCOUNT = 'account';

/** Checks that the service accepts the credentials; null if the service has no request for that without side effects. */
async function probeAccount(
  { plan, buildCheck }: Pick<LinkedVariant, 'plan' | 'buildCheck'>,
  signal: AbortSignal,
  context: ProbeContext,
): Promise<Probe | null> {
  if (buildCheck === null) return null;
  const { max_response_bytes } = plan;
  const result = await sendRequest(
    buildCheck(context.clock.now()),
    { max_response_bytes, timeout_ms: TIMEOUT_MS, signal },
    context,
  );
  if (result.kind === 'failed') return undecided(`no answer (${result.code})`);
  const outcome = linkClassifier({ ...plan, message_id: null })(readResponse(result), context.clock.now());
  if (outcome.kind === 'ok') return probed(ACCOUNT, 'the service accepts the credentials');
  if (outcome.kind === 'retry' || outcome.kind === 'ambiguous') return undecided(outcome.reason);
  return probeFailed(ACCOUNT, outcome.reason, 'copy the credentials from the service again');
}

/** For a service that is down or busy: this says nothing about the credentials. */
const undecided = (detail: string): Probe => probeSkipped(ACCOUNT, `not checked: ${detail}`);
