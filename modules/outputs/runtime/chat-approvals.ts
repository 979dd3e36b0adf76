/**
 * Answers of people who press a button of an approval request in a chat.
 *
 *     callback, verified by the stages ──> by a person who may answer, in the right workspace and chat? ── no ──> notified why
 *                                             └─ yes ──> the store: is it the first answer? ── no ──> notified who answered
 *                                                          └──> in both cases the message shows the answer
 *
 * The response is sent at once, because services wait three seconds; requests to the service follow.
 *
 * A message with buttons shows the answer however it was given. A row (kind `asked` of `guard_state`) is stored before the message,
 * and deleted when the message was updated, so a kill loses no update. An update that was sent before a kill is sent again, with
 * the same text. Each target has its lane, so one that does not respond delays only its own updates.
 */
import { createHash } from 'node:crypto';
import { RE2JS } from 're2js';
import { groupBy } from '../../../base/group-by.ts';
import { splitField } from '../../../base/paths.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import type { BoundTarget } from '../../../runtime/deliver/deliverer.ts';
import type { DeliveryResult } from '../../../runtime/deliver/http/classify-response.ts';
import { linkReader } from '../../../runtime/deliver/http/classify-response.ts';
import { linkRequest } from '../../../runtime/deliver/http/link-request.ts';
import { createPieceSender } from '../../../runtime/deliver/http/send-piece.ts';
import type { Values } from '../../../runtime/deliver/http/values.ts';
import { NO_VALUES } from '../../../runtime/deliver/http/values.ts';
import { isOneMessage, prepareText } from '../../../runtime/deliver/prepare-text.ts';
import type { ApprovingContext, CallbackAnswer } from '../../../runtime/dispatch/context.ts';
import { renderReceivers } from '../../../runtime/dispatch/own-message.ts';
import { retryWait } from '../../../runtime/dispatch/retry-waits.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import { decodeOr, fieldsOf, isInstant, isText } from '../../../runtime/store/decode.ts';
import type { BlockedRow } from '../../../runtime/store/queries.ts';
import { isFinal } from '../../../runtime/store/states.ts';
import { verifyingSecret } from '../../../runtime/table/link-authentication.ts';
import type { Approval } from '../../../schemas/built/operations/types.ts';
import type { Dispatch, DispatchDelivery, RequestPlan } from '../../../schemas/generated/types.ts';
import { answerApproval, findApproval, stateText } from './approvals.ts';
import type { ButtonChat, Press } from './chat-press.ts';
import { openButtonChat, printed, readPress, textAt } from './chat-press.ts';
import { consoleUrl, noticeText } from './notice.ts';

/** Longest wait for a service, before a callback is answered and otherwise, in ms. */
const LOOKUP_MS = 1500;
const REQUEST_MS = 10_000;
/** How long an attempt to update a message reserves it, longer than a request. Gateways with the same store share the attempts, in ms. */
const UPDATE_MS = 15_000;
/** Number of messages of a target updated at once. */
const AT_ONCE = 8;
/** Number of attempts to update a message, with the waits of deliveries: about a day. */
const MOST_ATTEMPTS = 30;
/** In place of a random number: rows of a target vary anyway. */
const MIDDLE = 0.5;
/** How long a row is stored after its approval has expired, or after an attempt, in ms. */
const RETENTION_MS = 86_400_000;
/** Wait between two attempts to register at a service, in ms. */
const REGISTER_MS = 60_000;
/** Longest text that all services show to one person. */
const MOST_SHOWN = 199;

/** How many presses that came too late are remembered. Services sign a time, so older requests are not accepted again. */
const MOST_LATE = 10_000;

/** The body of a row. Its key has the id of the message's dispatch and the index of the delivery. */
interface Notice {
  /** Id of the approval. */
  readonly approval: string;
  /** Unix ms of the next attempt. */
  readonly due_at: number;
  /** Rows of earlier versions have neither a target nor a number of attempts. */
  readonly target?: string;
  readonly attempts?: number;
}

const isNotice = fieldsOf({ approval: isText, due_at: isInstant });
const NEVER: Notice = { approval: '', due_at: Number.POSITIVE_INFINITY };

interface NoticeRow {
  readonly key: string;
  readonly asked: Notice;
}

const NOT_OURS: CallbackAnswer = { counts: false, body: null };

export class ChatApprovals {
  private readonly context: ApprovingContext;
  /** The workspace or account of credentials, which are replaced with each table. */
  private readonly accounts = new WeakMap<BoundTarget, string>();
  /** Monotonic ms of the next attempt to register; infinite: done, or the service calls another program (`foreign`). */
  private readonly registering = new WeakMap<BoundTarget, number>();
  private readonly foreign = new WeakSet<BoundTarget>();
  private following: Promise<unknown> = Promise.resolve();
  /** Updates in progress, by target, and the Unix ms before which a service wants no others. */
  private readonly lanes = new Map<string, Promise<void>>();
  private readonly pauses = new Map<string, number>();
  /** Chats in which a button was pressed, by target and approval: an address may name a chat by something else than its id. */
  private readonly pressed: Map<string, string>;
  private isClosed = false;
  /** Digests of presses that came too late. The same request must not count after the answer before it has been undone. */
  private readonly late = new Set<string>();

  constructor(context: ApprovingContext, pressed = new Map<string, string>()) {
    this.context = context;
    this.pressed = pressed;
  }

  /** Whether requests to this target get buttons now. */
  hasButtons(target: string): boolean {
    const chat = openButtonChat(this.context, target);
    if (chat?.buttons.requests.register === undefined) return chat !== null;
    return this.registering.get(chat.bound) === Number.POSITIVE_INFINITY && !this.foreign.has(chat.bound);
  }

  /** Rejects with StoreUnavailable. */
  async answered(target: string, payload: unknown): Promise<CallbackAnswer> {
    const { store, clock, log, deliverer, wake } = this.context;
    const chat = openButtonChat(this.context, target);
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
    if (kind === 'late') {
      if (isInEffect(approval, clock.now())) this.follow(chat, 'update', press, this.textOf(chat, approval));
      this.late.add(digest);
      for (const oldest of this.late) if (this.late.size > MOST_LATE) this.late.delete(oldest);
      return this.notify(chat, press, `too late: ${stateText(approval)}`);
    }
    log.info({ target, approval: id, by, state: approval.state }, 'approval answered in a chat');
    this.pressed.set(`${target} ${id}`, press.chat);
    wake();
    return { counts: true, body: bodyOf(chat, 'update', press.values) };
  }

  /**
   * Looks up accounts, and registers the address of callbacks at services that need it. Resolves once each service that needs it
   * was tried. Never rejects: it is repeated later.
   */
  async register(): Promise<void> {
    const now = this.context.clock.monotonic();
    const first = Object.keys(this.context.table().callbacks ?? {}).map((target) => {
      const chat = openButtonChat(this.context, target);
      if (chat === null || (this.registering.get(chat.bound) ?? 0) > now) return null;
      const isFirst = !this.registering.has(chat.bound);
      this.registering.set(chat.bound, now + REGISTER_MS);
      const tried = this.tryRegister(chat, isFirst);
      if (isFirst && chat.buttons.requests.register !== undefined) return tried;
      this.following = Promise.allSettled([this.following, tried]);
      return null;
    });
    await Promise.all(first);
  }

  /** Resolves once the requests that follow answers have ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([this.following, ...this.lanes.values()]);
  }

  /** Call it before the message is stored. @param expires_at of the approval, Unix ms */
  async remember({ id, deliveries }: Dispatch, expires_at: number): Promise<void> {
    for (const [index, { approval, target }] of deliveries.entries())
      if (approval !== undefined) await this.put(`${id}-${index}`, null, { approval, due_at: 0, target }, expires_at);
  }

  /**
   * Begins to update the messages of approvals that do not wait any more.
   * @param waiting deliveries that do @param fail gets what went wrong later
   */
  async showAnswers(waiting: readonly BlockedRow[], fail: (error: unknown) => void): Promise<void> {
    const { store, clock } = this.context;
    const pending = new Set(waiting.map(({ id, index }) => `${id}-${index}`));
    const rows = (await store.read({ kind: 'guard_rows', of: 'asked' })).map(
      ({ key, body }): NoticeRow => ({ key, asked: decodeOr(body, isNotice, NEVER) }),
    );
    // Another gateway may have updated the message.
    const stored = new Set(rows.map(({ asked }) => asked.approval));
    for (const name of this.pressed.keys()) if (!stored.has(name.split(' ')[1] ?? '')) this.pressed.delete(name);
    const due = rows
      .filter(({ asked: { approval, due_at } }) => due_at <= clock.now() && !pending.has(deliveryOf(approval)))
      .sort((a, b) => a.asked.due_at - b.asked.due_at);
    for (const [target, ofTarget] of groupBy(due, ({ asked }) => asked.target ?? ''))
      if (!this.lanes.has(target)) {
        const lane = this.showInLane(target, ofTarget).catch(fail);
        this.lanes.set(
          target,
          lane.finally(() => this.lanes.delete(target)),
        );
      }
  }

  private async showInLane(target: string, rows: readonly NoticeRow[]): Promise<void> {
    const isPaused = (): boolean => (this.pauses.get(target) ?? 0) > this.context.clock.monotonic();
    for (let at = 0; at < rows.length && !this.isClosed && !isPaused(); at += AT_ONCE)
      await Promise.all(rows.slice(at, at + AT_ONCE).map((row) => this.showAnswer(row)));
  }

  private async showAnswer({ key, asked }: NoticeRow): Promise<void> {
    const { store, clock } = this.context;
    const found = await findApproval(store, asked.approval);
    const approval = found.kind === 'found' ? found.approval : null;
    const [id = '', index] = key.split('-');
    const notice = await store.read({ kind: 'find', id });
    const { dispatch, steps, state } = notice.kind === 'found' ? notice.dispatch : NOT_STORED;
    const message = steps.find((step) => step.index === Number(index) && step.message_id !== null)?.message_id ?? null;
    // It may still be sent.
    if ((message === null && !isFinal(state)) || (approval !== null && !isInEffect(approval, clock.now()))) return;
    const attempts = (asked.attempts ?? 0) + 1;
    const tried = { ...asked, due_at: clock.now() + UPDATE_MS, attempts };
    if (!(await this.put(key, asked, tried))) return;
    const delivery = dispatch?.deliveries[Number(index)];
    const wait =
      message === null || delivery === undefined ? null : await this.update(delivery, message, tried, approval);
    await this.put(key, tried, wait === null ? null : { ...tried, due_at: clock.now() + wait });
  }

  /** The wait before the next attempt, in ms; null: there is none. */
  private async update(
    of: DispatchDelivery,
    message: string,
    { approval: id, attempts }: Notice & { readonly attempts: number },
    approval: Approval | null,
  ): Promise<number | null> {
    const chat = openButtonChat(this.context, of.target);
    const place = chat === null ? '' : (this.pressed.get(`${of.target} ${id}`) ?? placeOf(chat, of));
    const plan = chat?.buttons.requests.update;
    const isLast = attempts >= MOST_ATTEMPTS;
    if (chat === null) return isLast ? null : retryWait(attempts, null, MIDDLE);
    if (plan === undefined || place === '') return null;
    const address = new Map([['chat', place] as const, ['message', message] as const]);
    const text = await textFor(chat, this.textOf(chat, approval));
    const result = await this.request(chat, plan, { ...NO_VALUES, address, text });
    if (result.kind === 'ok') return null;
    const { kind, reason, retry_after_ms: asked, isAuth = false } = result;
    // Credentials may be replaced, and the bot be invited again.
    const isOver = isLast || (kind === 'permanent' && !isAuth);
    if (isOver || attempts === 1) this.logNotShown(chat, id, reason);
    if (asked !== null) this.pauses.set(of.target, this.context.clock.monotonic() + retryWait(1, asked, MIDDLE));
    return isOver ? null : retryWait(attempts, asked, MIDDLE);
  }

  /** What the message says once the approval has ended. @param approval null: it does not exist any more */
  private textOf({ bound }: ButtonChat, approval: Approval | null): string {
    if (approval === null) return 'hookwright: a message that needed your approval was replaced or deleted';
    const console = consoleUrl(this.context.table().gateway.console);
    return noticeText(approval, console, (one) => isOneMessage(bound.plan, one));
  }

  private logNotShown(chat: ButtonChat, approval: string, reason: string): void {
    const fields = { target: chat.name, approval, reason: chat.bound.redact(reason) };
    this.context.log.info(fields, 'the chat does not show the answer');
  }

  /** False: another gateway has changed the row. @param until from then on it may be removed, Unix ms */
  private put(
    key: string,
    expect: Notice | null,
    next: Notice | null,
    until = this.context.clock.now(),
  ): Promise<boolean> {
    const json = (asked: Notice | null): string | null => asked && JSON.stringify(asked);
    const change = { expect: json(expect), body: json(next), expires_at: until + RETENTION_MS, dispatch: null };
    const row = { kind: 'asked', key } as const;
    return this.context.store.write({ kind: 'put_guard', row, ...change, now: this.context.clock.now() });
  }

  private async tryRegister(chat: ButtonChat, isFirst: boolean): Promise<void> {
    // Before the first callback, which has to be answered soon.
    const [reason, account] = await Promise.all([this.registerAt(chat), this.accountOf(chat, REQUEST_MS)]);
    if (reason === null && account !== null) this.registering.set(chat.bound, Number.POSITIVE_INFINITY);
    if (reason === null || !isFirst) return;
    const fields = { target: chat.name, reason: chat.bound.redact(reason) };
    this.context.log.warn(fields, 'no buttons yet: could not register; will retry');
  }

  /** Why it failed; null: it need not be repeated. */
  private async registerAt(chat: ButtonChat): Promise<string | null> {
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
  private async refusalOf(chat: ButtonChat, { person, isBot, accounts, chat: place }: Press): Promise<string | null> {
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
  private async accountOf(chat: ButtonChat, ms: number): Promise<string | null | undefined> {
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
  private isRightChat(chat: ButtonChat, id: string): boolean {
    const table = this.context.table();
    const all = renderReceivers(table.gateway.approvals?.deliver ?? [], table);
    const own = all.find(({ target }) => target === chat.bound.plan.name);
    const place = own === undefined ? '' : placeOf(chat, own);
    return place === '' || place === id || !RE2JS.compile(chat.buttons.chats ?? '.*').matches(place);
  }

  private async notify(chat: ButtonChat, press: Press, reason: string): Promise<CallbackAnswer> {
    const text = printableStart(reason, MOST_SHOWN);
    this.follow(chat, 'notify', press, text);
    return { counts: false, body: bodyOf(chat, 'notify', { ...press.values, text: await textFor(chat, text) }) };
  }

  /** Makes a request after the response. */
  private follow(chat: ButtonChat, name: string, { values, id }: Press, raw: string): void {
    const plan = chat.buttons.requests[name];
    const made = async (): Promise<void> => {
      if (plan === undefined) return;
      const result = await this.request(chat, plan, { ...values, text: await textFor(chat, raw) });
      if (result.kind !== 'ok') this.logNotShown(chat, id, result.reason);
    };
    this.following = Promise.allSettled([this.following, made()]);
  }

  private async request(
    chat: ButtonChat,
    plan: RequestPlan,
    values = NO_VALUES,
    ms = REQUEST_MS,
  ): Promise<DeliveryResult> {
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

/** The id of the chat in an address; empty: the address names none. */
function placeOf({ variant, buttons: { place = ['chat_id'] } }: ButtonChat, delivery: DispatchDelivery): string {
  const address = variant.resolveAddress(delivery);
  if (typeof address === 'string') return '';
  return place.map((key) => address.get(key) ?? '').find((value) => value !== '') ?? '';
}

/** Until an approval takes effect, it can be undone, and its message needs the buttons again. */
const isInEffect = ({ state, answer }: Approval, now: number): boolean =>
  state !== 'waiting' && (answer === null || answer.takes_effect_at <= now);

/** `<id>-<index>` of the delivery that waits or has waited for an approval. */
const deliveryOf = (approval: string): string => approval.split('-', 2).join('-');

/** A message that was never stored, or has been deleted. */
const NOT_STORED = { dispatch: null, steps: [], state: 'dead' } as const;

/** The text as the target shows it, in one message. */
async function textFor({ variant }: ButtonChat, raw: string): Promise<string> {
  const prepared = await prepareText({ ...variant.plan.text, overflow: 'truncate' }, raw);
  return prepared.kind === 'pieces' ? (prepared.pieces[0] ?? raw) : raw;
}

function bodyOf(chat: ButtonChat, name: string, values: Values): string | null {
  const plan = chat.buttons.answers[name];
  return plan === undefined ? null : linkRequest(plan, scopeOf(chat))(values).body;
}

const scopeOf = ({ variant: { base }, bound: { settings } }: ButtonChat) => ({ base, settings });

/** The target has changed since the message was shown. */
function messageOfRefusal(error: unknown): string {
  if (error instanceof ControlError) return error.message;
  throw error;
}
