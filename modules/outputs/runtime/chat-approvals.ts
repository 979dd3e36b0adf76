/**
 * Answers of people who press a button of an approval request in a chat.
 *
 *     callback, verified by the stages ──> by a person who may answer, in the right workspace and chat? ── no ──> told why
 *                                             └─ yes ──> the store: is it the first answer? ── no ──> told who answered
 *                                                          └──> in both cases the message shows the answer
 *
 * The response is sent at once, because services wait three seconds; requests to the service follow. If one fails, the next press
 * of the button makes it again.
 */
import { RE2JS } from 're2js';
import { ControlError } from '../../../runtime/control/control-error.ts';
import type { BoundTarget } from '../../../runtime/deliver/deliverer.ts';
import type { DeliveryResult } from '../../../runtime/deliver/http/classify-response.ts';
import { linkReader } from '../../../runtime/deliver/http/classify-response.ts';
import { linkRequest } from '../../../runtime/deliver/http/link-request.ts';
import type { LinkedVariant } from '../../../runtime/deliver/http/link-variant.ts';
import { linkVariant } from '../../../runtime/deliver/http/link-variant.ts';
import { createPieceSender } from '../../../runtime/deliver/http/send-piece.ts';
import type { Values } from '../../../runtime/deliver/http/values.ts';
import { NO_VALUES } from '../../../runtime/deliver/http/values.ts';
import { isOneMessage, prepareText } from '../../../runtime/deliver/prepare-text.ts';
import type { ApprovingContext, CallbackAnswer } from '../../../runtime/dispatch/context.ts';
import { renderReceivers } from '../../../runtime/dispatch/own-message.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import { actor } from '../../../runtime/store/actor.ts';
import { derivedSecret } from '../../../runtime/table/link-authentication.ts';
import type { Approval } from '../../../schemas/built/operations/types.ts';
import type { ButtonsPlan, RequestPlan } from '../../../schemas/generated/types.ts';
import { answerApproval, stateText } from './approvals.ts';

/** Longest wait for a service before a callback is answered, and for its requests after that, in ms. */
const LOOKUP_MS = 1500;
const REQUEST_MS = 10_000;
/** Longest wait between two attempts to register at a service, in ms. */
const MOST_WAIT_MS = 300_000;
/** Longest text that all services show to one person. */
const MOST_TOLD = 200;

/** A target whose buttons are on. */
interface Chat {
  readonly name: string;
  readonly path: string;
  readonly bound: BoundTarget;
  readonly variant: LinkedVariant;
  readonly buttons: ButtonsPlan;
}

/** A pressed button. */
interface Press {
  readonly approve: boolean;
  /** Of the approval. */
  readonly id: string;
  readonly person: string;
  /** `slack:U024BE7LH (ann)` */
  readonly by: string;
  readonly isBot: boolean;
  readonly accounts: readonly string[];
  readonly chat: string;
  readonly values: Values;
}

const NOT_OURS: CallbackAnswer = { approval: '', counts: false, body: null };

export class ChatApprovals {
  private readonly context: ApprovingContext;
  private readonly onAnswer: () => void;
  private readonly textOf: (approval: Approval, fits: (text: string) => boolean) => string;
  /** By the credentials, which are replaced with each table. */
  private readonly accounts = new WeakMap<BoundTarget, string>();
  private readonly registered = new WeakMap<BoundTarget, Registration>();
  private following: Promise<unknown> = Promise.resolve();

  /** @param textOf the message that replaces a request once it is answered */
  constructor(context: ApprovingContext, parts: { onAnswer: () => void; textOf: ChatApprovals['textOf'] }) {
    this.context = context;
    this.onAnswer = parts.onAnswer;
    this.textOf = parts.textOf;
  }

  /** Whether requests to this target get buttons now. */
  hasButtons(target: string): boolean {
    const chat = this.open(target);
    if (chat === null) return false;
    return chat.buttons.requests.register === undefined || this.registered.get(chat.bound)?.state === 'done';
  }

  async answered(target: string, payload: unknown): Promise<CallbackAnswer> {
    const { store, clock, log, place, wake } = this.context;
    const chat = this.open(target);
    const press = chat === null ? null : readPress(chat, payload);
    if (chat === null || press === null) return NOT_OURS;
    const fields = { target, approval: press.id, by: press.by };
    const refusal = await this.refusalOf(chat, press);
    if (refusal !== null) {
      log.warn({ ...fields, reason: refusal }, 'answer from a chat refused');
      return this.tell(chat, press, refusal);
    }
    const { approve, by } = press;
    const given = await orMoved(answerApproval(store, press.id, { approve, by, reason: null }, clock.now(), place));
    if (typeof given === 'string') return this.tell(chat, press, given);
    if (!('approval' in given)) return this.tell(chat, press, 'there is no such approval: its event was deleted');
    const { approval } = given;
    if (given.kind === 'answered') {
      log.info({ ...fields, state: approval.state }, 'approval answered in a chat');
      wake();
      this.onAnswer();
    }
    const text = this.textOf(approval, (each) => isOneMessage(chat.bound.plan, each));
    this.follow(chat, 'update', press, text, given.kind === 'answered');
    if (given.kind === 'late') return this.tell(chat, press, `too late: ${stateText(approval)}`);
    return { approval: press.id, counts: true, body: bodyOf(chat, 'update', press.values) };
  }

  /** Registers the address of callbacks where the service needs that. Quiet: repeated later if it fails. */
  async register(): Promise<void> {
    const { callbacks = {} } = this.context.table();
    for (const target of Object.keys(callbacks)) {
      const chat = this.open(target);
      if (chat?.buttons.requests.register === undefined) continue;
      const last = this.registered.get(chat.bound);
      if (last !== undefined && (last.state !== 'failed' || last.nextAt > this.context.clock.monotonic())) continue;
      await this.registerAt(chat, last);
    }
  }

  /** Resolves once the requests that follow answers have ended. */
  async close(): Promise<void> {
    await this.following;
  }

  private async registerAt(chat: Chat, last: Registration | undefined): Promise<void> {
    const { clock, log, table } = this.context;
    const url = `${table().server.public_url?.replace(/\/+$/, '')}${chat.path}`;
    const secret = derivedSecret(chat.bound.settings.get(chat.buttons.secret) ?? '');
    const current = await this.send(chat, 'registered', NO_VALUES, REQUEST_MS);
    const found = current?.kind === 'ok' ? (textAt(chat, 'found', current.json) ?? '') : '';
    // The updates of the bot belong to another program, which must not lose them.
    if (found !== '' && !(URL.canParse(found) && new URL(found).pathname.endsWith(chat.path))) {
      this.registered.set(chat.bound, { state: 'foreign', nextAt: 0, wait: 0 });
      const host = URL.canParse(found) ? new URL(found).host : 'another address';
      return log.warn(
        { target: chat.name, host },
        'no buttons: the service calls another address for this bot; use another bot',
      );
    }
    const values = { ...NO_VALUES, address: new Map(Object.entries({ url, secret })) };
    const result = current?.kind === 'ok' ? await this.send(chat, 'register', values, REQUEST_MS) : current;
    if (result?.kind === 'ok') {
      this.registered.set(chat.bound, { state: 'done', nextAt: 0, wait: 0 });
      return log.info({ target: chat.name, url }, 'the service will report pressed buttons');
    }
    const wait = Math.min(MOST_WAIT_MS, (last?.wait ?? 2500) * 2);
    this.registered.set(chat.bound, { state: 'failed', nextAt: clock.monotonic() + wait, wait });
    const reason = chat.bound.redact(result?.reason ?? '');
    if (last === undefined) log.warn({ target: chat.name, reason }, 'no buttons yet: could not register; will retry');
  }

  private open(target: string): Chat | null {
    const { table, bound: find } = this.context;
    const route = table().callbacks?.[target];
    const bound = route === undefined ? null : find(target);
    const variant = bound === null ? '' : linkVariant(bound);
    if (route === undefined || bound === null || typeof variant === 'string') return null;
    const { buttons } = variant.plan;
    return buttons === undefined
      ? null
      : { name: bound.binding.label ?? target, path: route.name, bound, variant, buttons };
  }

  /** Why the answer does not count, for the person; null: it may. */
  private async refusalOf(chat: Chat, press: Press): Promise<string | null> {
    const { allow } = this.context.table().gateway.approvals ?? {};
    if (press.isBot) return 'a bot cannot answer';
    if (chat.buttons.account !== undefined) {
      const own = await this.accountOf(chat, chat.buttons.account);
      if (own === null) return 'not answered: the workspace could not be checked; try again';
      if (press.accounts.length === 0 || press.accounts.some((id) => id !== own))
        return 'only members of the workspace of this gateway can answer';
    }
    if (!this.isRightChat(chat, press.chat)) return 'this gateway no longer requests approvals in this chat';
    const ids = [press.person, `${chat.name}:${press.person}`];
    return allow === undefined || ids.some((id) => allow.includes(id))
      ? null
      : 'you may not answer approvals of this gateway';
  }

  /** The workspace or account of the credentials; null: unknown now. */
  private async accountOf(chat: Chat, path: string): Promise<string | null> {
    const known = this.accounts.get(chat.bound);
    const plan = chat.variant.plan.check;
    if (known !== undefined || plan === undefined) return known ?? null;
    const result = await this.request(chat, plan, NO_VALUES, LOOKUP_MS);
    const found = result.kind === 'ok' ? printed(linkReader(path.split('.'))(result.json)) : null;
    if (found !== null) this.accounts.set(chat.bound, found);
    return found;
  }

  /** Compared with the addresses that are ids. */
  private isRightChat({ bound, variant, buttons }: Chat, id: string): boolean {
    const table = this.context.table();
    const own = renderReceivers(table.gateway.approvals?.deliver ?? [], table).find(
      ({ target }) => target === bound.plan.name,
    );
    const address = own === undefined ? '' : variant.resolveAddress(own);
    if (typeof address === 'string') return false;
    const places = [address.get('thread'), address.get('chat_id')].filter((place) => place !== undefined);
    const pattern = RE2JS.compile(buttons.chats ?? '.*');
    const ids = places.filter((place) => pattern.matches(place));
    return ids.length === 0 || ids.includes(id);
  }

  private async tell(chat: Chat, press: Press, reason: string): Promise<CallbackAnswer> {
    const raw = printableStart(reason, MOST_TOLD - 1);
    this.follow(chat, 'tell', press, raw, false);
    const text = await textFor(chat, raw);
    return { approval: press.id, counts: false, body: bodyOf(chat, 'tell', { ...press.values, text }) };
  }

  /** Makes a request after the response. */
  private follow(chat: Chat, name: string, { values, id }: Press, raw: string, warns: boolean): void {
    const made = async (): Promise<void> => {
      const result = await this.send(chat, name, { ...values, text: await textFor(chat, raw) }, REQUEST_MS);
      if (result === null || result.kind === 'ok' || !warns) return;
      const reason = chat.bound.redact(result.reason);
      this.context.log.warn({ target: chat.name, approval: id, reason }, 'the chat does not show the answer');
    };
    this.following = Promise.allSettled([this.following, made()]);
  }

  private async send(chat: Chat, name: string, values: Values, ms: number): Promise<DeliveryResult | null> {
    const plan = chat.buttons.requests[name];
    return plan === undefined ? null : this.request(chat, plan, values, ms);
  }

  private async request(
    { bound, variant }: Chat,
    plan: RequestPlan,
    values: Values,
    ms: number,
  ): Promise<DeliveryResult> {
    const { sending, clock } = this.context;
    const controller = new AbortController();
    const timer = clock.after(ms, () => controller.abort());
    const build = linkRequest(plan, { base: variant.base, settings: bound.settings });
    const sender = createPieceSender(variant, bound.plan.name, sending);
    try {
      return await sender.send({ plan, build, usesKey: false }, values, { signal: controller.signal });
    } finally {
      timer.cancel();
    }
  }
}

interface Registration {
  /** `foreign`: the service calls another program. */
  readonly state: 'done' | 'foreign' | 'failed';
  /** Monotonic ms. */
  readonly nextAt: number;
  readonly wait: number;
}

const BUTTON = /^([ar]):([a-z0-9-]{1,100})$/;
const PERSON = /^[A-Za-z0-9_-]{1,64}$/;
/** All but letters, digits and a few marks: a name is shown to others, and must be neither markup nor a mention. */
const UNSAFE = /[^\p{L}\p{M}\p{N} .'-]/gu;
const MOST_NAME = 60;
/** Fields that requests and answers contain. */
const VALUES = ['chat', 'message', 'person', 'callback'] as const;

/** Null: not a button of an approval, pressed by a person. */
function readPress(chat: Chat, payload: unknown): Press | null {
  const text = (name: string): string => textAt(chat, name, payload) ?? '';
  const [, kind, id = ''] = BUTTON.exec(text('value')) ?? [];
  const person = text('person');
  if (kind === undefined || !PERSON.test(person)) return null;
  const name = printableStart(text('name').replace(UNSAFE, '').trim(), MOST_NAME);
  const values = VALUES.flatMap((key) => (chat.buttons.fields[key] === undefined ? [] : [[key, text(key)] as const]));
  if (values.some(([, value]) => value === '')) return null;
  return {
    approve: kind === 'a',
    id,
    person,
    by: actor(chat.name, name === '' ? person : `${person} (${name})`),
    isBot: text('bot') === 'true',
    accounts: (chat.buttons.fields.account ?? []).flatMap((path) => printed(linkReader(path)(payload)) ?? []),
    chat: text('chat'),
    values: { ...NO_VALUES, address: new Map(values) },
  };
}

/** The first value of a field. */
function textAt({ buttons }: Chat, name: string, payload: unknown): string | null {
  for (const path of buttons.fields[name] ?? []) {
    const value = printed(linkReader(path)(payload));
    if (value !== null) return value;
  }
  return null;
}

const printed = (value: unknown): string | null =>
  value === undefined || value === null || value === '' ? null : String(value);

/** The text as the target shows it. */
async function textFor({ variant }: Chat, raw: string): Promise<string> {
  const prepared = await prepareText({ ...variant.plan.text, overflow: 'truncate' }, raw);
  return prepared.kind === 'pieces' ? (prepared.pieces[0] ?? raw) : raw;
}

function bodyOf({ buttons, variant, bound }: Chat, name: string, values: Values): string | null {
  const plan = buttons.answers[name];
  return plan === undefined ? null : linkRequest(plan, { base: variant.base, settings: bound.settings })(values).body;
}

/** The message of the error if the target has changed. */
async function orMoved<T>(answering: Promise<T>): Promise<T | string> {
  try {
    return await answering;
  } catch (error) {
    if (error instanceof ControlError) return error.message;
    throw error;
  }
}
