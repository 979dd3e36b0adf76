/**
 * Answers of people who press a button of an approval request in a chat.
 *
 *     callback, verified by the stages ──> by a person who may answer, in the right workspace and chat? ── no ──> notified why
 *                                             └─ yes ──> the store: is it the first answer? ── no ──> notified who answered
 *                                                          └──> in both cases the message shows the answer
 *
 * The response is sent at once, because services wait three seconds; requests to the service follow. If one fails, the next press
 * of the button makes it again.
 */
import { createHash } from 'node:crypto';
import { RE2JS } from 're2js';
import { DEFAULT_PROFILE } from '../../../base/names.ts';
import { splitField } from '../../../base/paths.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import type { BoundTarget } from '../../../runtime/deliver/deliverer.ts';
import type { DeliveryResult } from '../../../runtime/deliver/http/classify-response.ts';
import { linkReader } from '../../../runtime/deliver/http/classify-response.ts';
import { linkRequest } from '../../../runtime/deliver/http/link-request.ts';
import { linkVariant } from '../../../runtime/deliver/http/link-variant.ts';
import { createPieceSender } from '../../../runtime/deliver/http/send-piece.ts';
import type { Values } from '../../../runtime/deliver/http/values.ts';
import { NO_VALUES } from '../../../runtime/deliver/http/values.ts';
import { isOneMessage, prepareText } from '../../../runtime/deliver/prepare-text.ts';
import type { ApprovingContext, CallbackAnswer } from '../../../runtime/dispatch/context.ts';
import { renderReceivers } from '../../../runtime/dispatch/own-message.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import { actor } from '../../../runtime/store/actor.ts';
import { verifyingSecret } from '../../../runtime/table/link-authentication.ts';
import type { RequestPlan } from '../../../schemas/generated/types.ts';
import { answerApproval, stateText } from './approvals.ts';
import { consoleUrl, noticeText } from './notice.ts';

/** Longest wait for a service, before a callback is answered and otherwise, in ms. */
const LOOKUP_MS = 1500;
const REQUEST_MS = 10_000;
/** Wait between two attempts to register at a service, in ms. */
const REGISTER_MS = 60_000;
/** Longest text that all services show to one person. */
const MOST_SHOWN = 199;

/** Services sign times that are at most five minutes old. */
const MOST_LATE = 10_000;

type Press = NonNullable<ReturnType<typeof readPress>>;

const NOT_OURS: CallbackAnswer = { counts: false, body: null };

export class ChatApprovals {
  private readonly context: ApprovingContext;
  /** The workspace or account of credentials, which are replaced with each table. */
  private readonly accounts = new WeakMap<BoundTarget, string>();
  /** Monotonic ms of the next attempt to register; infinite: done, or the service calls another program (`foreign`). */
  private readonly registering = new WeakMap<BoundTarget, number>();
  private readonly foreign = new WeakSet<BoundTarget>();
  private following: Promise<unknown> = Promise.resolve();
  /** Digests of presses that came too late. The same request must not count after the answer before it has been undone. */
  private readonly late = new Set<string>();

  constructor(context: ApprovingContext) {
    this.context = context;
  }

  /** Whether requests to this target get buttons now. */
  hasButtons(target: string): boolean {
    const chat = openChat(this.context, target);
    if (chat?.buttons.requests.register === undefined) return chat !== null;
    return this.registering.get(chat.bound) === Number.POSITIVE_INFINITY && !this.foreign.has(chat.bound);
  }

  /** Rejects with StoreUnavailable. */
  async answered(target: string, payload: unknown): Promise<CallbackAnswer> {
    const { store, clock, log, deliverer, table, wake } = this.context;
    const chat = openChat(this.context, target);
    const press = chat === null ? null : readPress(chat, payload);
    if (chat === null || press === null) return NOT_OURS;
    const { approve, id, by } = press;
    const refusal = await this.refusalOf(chat, press);
    if (refusal !== null) {
      log.warn({ target, approval: id, by, reason: refusal }, 'answer from a chat refused');
      return this.notify(chat, press, refusal);
    }
    const digest = createHash('sha256').update(JSON.stringify(payload)).digest('hex');
    if (this.late.has(digest)) return this.notify(chat, press, 'too late: this press was refused before');
    const answer = { approve, by, reason: null };
    const given = await answerApproval(store, id, answer, clock.now(), deliverer.place).catch(messageOfRefusal);
    if (typeof given === 'string') return this.notify(chat, press, given);
    if (!('approval' in given)) return this.notify(chat, press, 'there is no such approval: its event was deleted');
    const { kind, approval } = given;
    const text = noticeText(approval, consoleUrl(table().gateway.console), (one) => isOneMessage(chat.bound.plan, one));
    // Until an approval takes effect, it can be undone, and the buttons are needed again.
    if ((approval.answer?.takes_effect_at ?? 0) <= clock.now()) this.follow(chat, 'update', press, text);
    if (kind === 'late') {
      this.late.add(digest);
      for (const oldest of this.late) if (this.late.size > MOST_LATE) this.late.delete(oldest);
      return this.notify(chat, press, `too late: ${stateText(approval)}`);
    }
    log.info({ target, approval: id, by, state: approval.state }, 'approval answered in a chat');
    wake();
    return { counts: true, body: bodyOf(chat, 'update', press.values) };
  }

  /** Looks up accounts, and registers the address of callbacks at services that need it. Never rejects: it is repeated later. */
  async register(): Promise<void> {
    const now = this.context.clock.monotonic();
    for (const target of Object.keys(this.context.table().callbacks ?? {})) {
      const chat = openChat(this.context, target);
      // Before the first callback, which has to be answered soon.
      if (chat !== null) await this.accountOf(chat, REQUEST_MS);
      if (chat?.buttons.requests.register === undefined || (this.registering.get(chat.bound) ?? 0) > now) continue;
      const reason = await this.registerAt(chat);
      if (reason !== null && !this.registering.has(chat.bound))
        this.context.log.warn(
          { target, reason: chat.bound.redact(reason) },
          'no buttons yet: could not register; will retry',
        );
      this.registering.set(chat.bound, reason === null ? Number.POSITIVE_INFINITY : now + REGISTER_MS);
    }
  }

  /** Resolves once the requests that follow answers have ended. */
  async close(): Promise<void> {
    await this.following;
  }

  /** Why it failed; null: it need not be repeated. */
  private async registerAt(chat: Chat): Promise<string | null> {
    const { log, table } = this.context;
    const { name: target, bound, path, buttons } = chat;
    const { registered, register } = buttons.requests;
    if (registered === undefined || register === undefined) return null;
    const current = await this.request(chat, registered);
    if (current.kind !== 'ok') return current.reason;
    const found = textAt(chat, 'found', current.json);
    const url = found !== '' && URL.canParse(found) ? new URL(found) : null;
    if (found !== '' && url?.pathname.endsWith(path) !== true) {
      // Another program must not lose its events.
      this.foreign.add(bound);
      const hint = 'it calls another address for this bot; use another bot for approvals';
      log.warn({ target, host: url?.host, hint }, 'no buttons: the service does not call this gateway');
      return null;
    }
    const secret = verifyingSecret(bound.settings.get(buttons.secret) ?? '', true);
    const own = { url: `${table().server.public_url?.replace(/\/+$/, '')}${path}`, secret };
    const values = { ...NO_VALUES, address: new Map(Object.entries(own)) };
    const result = await this.request(chat, register, values);
    return result.kind === 'ok' ? null : result.reason;
  }

  /** Why the answer does not count, for the person; null: it may. */
  private async refusalOf(chat: Chat, { person, isBot, accounts, chat: place }: Press): Promise<string | null> {
    const { allow = [person] } = this.context.table().gateway.approvals ?? {};
    if (isBot) return 'a bot cannot answer';
    const account = await this.accountOf(chat, LOOKUP_MS);
    if (account === null) return 'not answered: the workspace could not be checked; try again';
    if (account !== undefined && (accounts.length === 0 || accounts.some((id) => id !== account)))
      return 'only members of the workspace of this gateway can answer';
    if (!this.isRightChat(chat, place)) return 'this gateway requests no approvals in this chat';
    const isAllowed = allow.includes(person) || allow.includes(`${chat.name}:${person}`);
    return isAllowed ? null : 'you may not answer approvals of this gateway';
  }

  /** The workspace or account of the credentials. Null: unknown now. Undefined: the service names none. */
  private async accountOf(chat: Chat, ms: number): Promise<string | null | undefined> {
    const { bound, buttons, variant } = chat;
    if (buttons.account === undefined) return undefined;
    const known = this.accounts.get(bound);
    const { check } = variant.plan;
    if (known !== undefined || check === undefined) return known ?? null;
    const result = await this.request(chat, check, NO_VALUES, ms);
    const found = result.kind === 'ok' ? printed(linkReader(splitField(buttons.account))(result.json)) : '';
    if (found !== '') this.accounts.set(bound, found);
    return found === '' ? null : found;
  }

  /** Compares only addresses that are ids: a channel may be named otherwise. */
  private isRightChat({ bound, variant, buttons }: Chat, id: string): boolean {
    const table = this.context.table();
    const all = renderReceivers(table.gateway.approvals?.deliver ?? [], table);
    const own = all.find(({ target }) => target === bound.plan.name);
    const address = own === undefined ? '' : variant.resolveAddress(own);
    if (typeof address === 'string') return false;
    const pattern = RE2JS.compile(buttons.chats ?? '.*');
    const ids = ['thread', 'chat_id'].map((key) => address.get(key) ?? '').filter((text) => pattern.matches(text));
    return ids.length === 0 || ids.includes(id);
  }

  private async notify(chat: Chat, press: Press, reason: string): Promise<CallbackAnswer> {
    const text = printableStart(reason, MOST_SHOWN);
    this.follow(chat, 'notify', press, text);
    return { counts: false, body: bodyOf(chat, 'notify', { ...press.values, text: await textFor(chat, text) }) };
  }

  /** Makes a request after the response. */
  private follow(chat: Chat, name: string, { values, id }: Press, raw: string): void {
    const plan = chat.buttons.requests[name];
    const made = async (): Promise<void> => {
      if (plan === undefined) return;
      const result = await this.request(chat, plan, { ...values, text: await textFor(chat, raw) });
      if (result.kind === 'ok') return;
      const reason = chat.bound.redact(result.reason);
      this.context.log.info({ target: chat.name, approval: id, reason }, 'the chat does not show the answer');
    };
    this.following = Promise.allSettled([this.following, made()]);
  }

  private async request(chat: Chat, plan: RequestPlan, values = NO_VALUES, ms = REQUEST_MS): Promise<DeliveryResult> {
    const { sending, clock } = this.context;
    const controller = new AbortController();
    const timer = clock.after(ms, () => controller.abort());
    const sender = createPieceSender(chat.variant, chat.name, sending);
    const request = { plan, build: linkRequest(plan, scopeOf(chat)), usesKey: false };
    const result = await sender.send(request, values, { signal: controller.signal });
    timer.cancel();
    return result;
  }
}

/** A target whose buttons are on; null: they are not. */
function openChat({ table, deliverer }: ApprovingContext, target: string) {
  const route = table().callbacks?.[target];
  const bound = route === undefined ? null : deliverer.bound(DEFAULT_PROFILE, target);
  const variant = bound === null ? '' : linkVariant(bound);
  if (route === undefined || bound === null || typeof variant === 'string') return null;
  const { buttons } = variant.plan;
  const name = bound.binding.label ?? target;
  return buttons === undefined ? null : { name, path: route.name, bound, variant, buttons };
}

type Chat = NonNullable<ReturnType<typeof openChat>>;

const BUTTON = /^([ar]):([a-z0-9-]{1,100})$/;
const PERSON = /^[A-Za-z0-9_-]{1,64}$/;
/** All but letters, digits and a few marks: a name is shown to others, and must be neither markup nor a mention. */
const UNSAFE = /[^\p{L}\p{M}\p{N} .'-]/gu;
const MOST_NAME = 60;
/** Fields that requests and answers contain. */
const VALUES = ['chat', 'message', 'person', 'callback'] as const;

/** Null: not a button of an approval, pressed by a person. */
function readPress(chat: Chat, payload: unknown) {
  const { fields } = chat.buttons;
  const read = (name: string): string => textAt(chat, name, payload);
  const [, kind, id = ''] = BUTTON.exec(read('value')) ?? [];
  const values = VALUES.flatMap((key) => (fields[key] === undefined ? [] : [[key, read(key)] as const]));
  const person = read('person');
  if (kind === undefined || !PERSON.test(person) || values.some(([, value]) => value === '')) return null;
  const name = printableStart(read('name').replace(UNSAFE, '').trim(), MOST_NAME);
  return {
    approve: kind === 'a',
    /** Of the approval. */
    id,
    person,
    by: actor(chat.name, name === '' ? person : `${person} (${name})`),
    isBot: read('bot') === 'true',
    accounts: (fields.account ?? []).map((path) => printed(linkReader(path)(payload))).filter((text) => text !== ''),
    chat: read('chat'),
    values: { ...NO_VALUES, address: new Map(values) } satisfies Values,
  };
}

/** The first value of a field; empty: none. */
const textAt = ({ buttons }: Chat, name: string, payload: unknown): string =>
  (buttons.fields[name] ?? []).map((path) => printed(linkReader(path)(payload))).find((text) => text !== '') ?? '';

const printed = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

/** The text as the target shows it, in one message. */
async function textFor({ variant }: Chat, raw: string): Promise<string> {
  const prepared = await prepareText({ ...variant.plan.text, overflow: 'truncate' }, raw);
  return prepared.kind === 'pieces' ? (prepared.pieces[0] ?? raw) : raw;
}

function bodyOf(chat: Chat, name: string, values: Values): string | null {
  const plan = chat.buttons.answers[name];
  return plan === undefined ? null : linkRequest(plan, scopeOf(chat))(values).body;
}

const scopeOf = ({ variant: { base }, bound: { settings } }: Chat) => ({ base, settings });

/** The target has changed since the message was shown. */
function messageOfRefusal(error: unknown): string {
  if (error instanceof ControlError) return error.message;
  throw error;
}
