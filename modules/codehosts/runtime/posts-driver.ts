/**
 * The driver of HTTP targets of code hosts: targets that search for earlier posts, know the account that posts, or have an app
 * token for each address (app-tokens.ts).
 *
 * A target with `find` searches for earlier posts when a repeat might post twice, and for `mode: upsert`.
 */
import { RE2JS } from 're2js';
import type { BoundTarget, CreateDriver, DeliveryRequest } from '../../../runtime/deliver/deliverer.ts';
import type { DeliveryResult } from '../../../runtime/deliver/http/classify-response.ts';
import { linkClassifier, linkReader, toId } from '../../../runtime/deliver/http/classify-response.ts';
import type { LinkTokens, NoToken, TokenContext } from '../../../runtime/deliver/http/exchange-token.ts';
import { linkAsk, linkExchange } from '../../../runtime/deliver/http/exchange-token.ts';
import type { Posting, PostingParts, PreparedDelivery, SendPiece } from '../../../runtime/deliver/http/http-driver.ts';
import { extendHttpDriver } from '../../../runtime/deliver/http/http-driver.ts';
import type { LinkedRequest, LinkedVariant } from '../../../runtime/deliver/http/link-variant.ts';
import { linkPickRequest } from '../../../runtime/deliver/http/link-variant.ts';
import type { PieceSender } from '../../../runtime/deliver/http/send-piece.ts';
import type { Values } from '../../../runtime/deliver/http/values.ts';
import { HIDDEN, NO_VALUES } from '../../../runtime/deliver/http/values.ts';
import type { TokenResult } from '../../../runtime/deliver/http-pool.ts';
import type { Clock } from '../../../runtime/platform/clock.ts';
import { isNewerMarker } from '../../../runtime/table/link-loop.ts';
import type { ResponseCondition } from '../../../schemas/generated/types.ts';
import { linkAppTokens } from './app-tokens.ts';

const linkTokens: LinkTokens = (parts) => {
  const { jwt, installation } = parts.plan;
  return jwt === undefined || installation === undefined
    ? linkExchange(parts)
    : linkAppTokens({ ...parts, jwt, installation });
};

function linkPosting(parts: PostingParts): Posting {
  const { target, variant, account, sender, context } = parts;
  const findLogin = linkFindLogin(variant, target, account, context);
  const find = linkFindPosted({ target, variant, sender, findLogin });
  const login = variant.plan.login === undefined ? {} : { ownLogin: rememberLogin(findLogin, context.clock) };
  const replace = find === null ? null : linkReplaceMark(parts, find);
  if (replace !== null) return { ...login, attempt: replace };
  return {
    ...login,
    ...(find === null && variant.plan.fresh === undefined ? {} : { attempt: linkAttempt(find, linkFreshPost(parts)) }),
  };
}

export const createPostsDriver: CreateDriver = extendHttpDriver({ linkTokens, linkPosting });

/** Maximum number of deliveries remembered as not sent. */
const MAX_REMEMBERED = 1000;

/** How long the state of an object is known, in ms: the outputs of a run are due together. */
const STATE_MS = 60_000;

const UNKNOWN_STATE =
  'the target cannot check the value of `fresh`, which must be a commit or the time in `updated_at`';
const SUPERSEDED = { kind: 'superseded', reason: 'superseded', retry_after_ms: null } as const;

type Attempt = NonNullable<Posting['attempt']>;

/** Sends a post or its replacement. */
type Post = (request: LinkedRequest, values: Values, delivery: DeliveryRequest) => Promise<DeliveryResult>;

/**
 * Sends posts of routes with `fresh` only if the object still has the state that the run has read. The host is asked once
 * for all outputs of a run.
 */
function linkFreshPost({ target, variant, sender, context }: PostingParts): Post {
  const { plan, base } = variant;
  const scope = { base, settings: target.settings };
  const states = (plan.fresh ?? []).map(({ matches, requests, values }) => ({
    matches: RE2JS.compile(matches),
    pick: linkPickRequest(plan, requests, scope, toRead(plan)),
    read: linkStates(values),
  }));
  return async (request, values, delivery) => {
    const { pins: { fresh } = {}, sent } = delivery;
    const post = (): Promise<DeliveryResult> => sender.send(request, values, delivery);
    if (fresh === undefined || states.length === 0 || sent > 0 || values.piece > 1) return post();
    const state = states.find(({ matches }) => matches.matches(fresh));
    const asked = state?.pick(values.address)?.request;
    if (state === undefined || asked === undefined) return failed('permanent', UNKNOWN_STATE);
    const { origin, path } = asked.build({ ...values, exchanged_token: HIDDEN });
    const found = await context.tokens.get(stateKey(delivery, origin, path), async () => {
      const result = await sender.send(asked, values, delivery);
      if (result.kind !== 'ok') return askFailed('current state', result);
      const known = state.read(result.json);
      const token = known === null ? fresh : (known.find((one) => isUnchanged(one, fresh)) ?? known[0]);
      return token === undefined
        ? failed('retry', 'current state: the response does not contain it')
        : { kind: 'token', token, usable_ms: STATE_MS };
    });
    if (found.kind !== 'token') return found;
    return isUnchanged(found.token, fresh) ? post() : SUPERSEDED;
  };
}

/** Reads the states of an object, or of the objects in a list, such as the pull requests of a commit. Null: the list is empty. */
function linkStates(values: readonly (readonly string[])[]): (json: unknown) => readonly string[] | null {
  const readers = values.map(linkReader);
  return (json) => {
    const objects: readonly unknown[] = Array.isArray(json) ? json : [json];
    const found = objects.flatMap((object) => readers.map((read) => toId(read(object))));
    return objects.length === 0 ? null : found.filter((one) => one !== null);
  };
}

/**
 * Replaces the mark that shows the progress of an event: sets the new one, then removes the others of the gateway's account. Null:
 * the target has no marks to remove.
 */
function linkReplaceMark({ target, variant, sender }: PostingParts, find: FindPosted): Attempt | null {
  const { plan, base } = variant;
  if (plan.find?.remove === undefined) return null;
  const pick = linkPickRequest(plan, plan.find.remove, { base, settings: target.settings });
  const marks = new Set(Object.values(target.plan.progress?.marks ?? {}).map(({ text }) => text));
  const replace = async (set: LinkedRequest, values: Values, request: DeliveryRequest): Promise<DeliveryResult> => {
    const result = await sender.send(set, values, request);
    if (result.kind !== 'ok') return result;
    const found = await find((text) => marks.has(text) && text !== values.text, values, request, true);
    if (found.kind !== 'found') return found;
    const remove = pick(values.address)?.request;
    if (remove === undefined) return failed('permanent', 'the target cannot remove a mark at this address');
    for (const { id } of found.posts) {
      const removed = await sender.send(remove, { ...values, found: id }, request);
      if (removed.kind !== 'ok') return removed;
    }
    return result;
  };
  return ({ form }, request, send) => send((values) => replace(form.request, values, request));
}

/** Services write one instant in several ways, with and without fractions of a second. */
export const isUnchanged = (now: string, before: string): boolean =>
  now === before || (before.includes(':') && toSecond(now) === toSecond(before));

const toSecond = (time: string): number => Math.floor(Date.parse(time) / 1000);

/** Names an object for all deliveries of a dispatch. */
const stateKey = ({ key }: DeliveryRequest, ...object: readonly string[]): string =>
  JSON.stringify(['state', key.split(':')[0], ...object]);

/** Posts a piece unless it is already posted. In a series, replaces the earlier post. */
function linkAttempt(find: FindPosted | null, send: Post): Attempt {
  /** Keys whose last attempt certainly posted nothing, so that no search is needed. */
  const unsent = new Set<string>();
  const inTurn = takeTurns();
  return (prepared, request, sendPieces) =>
    inTurn(prepared.series, async () => {
      const isDoubtful = request.first_attempt_at !== null && !unsent.has(request.key);
      unsent.delete(request.key);
      const post = find === null ? null : postOnce(find, send, prepared, request);
      const piece: SendPiece = async (values, index) => {
        const mark = prepared.series ?? (isDoubtful && index === request.sent ? values.key : null);
        const result = await (mark === null || post === null
          ? send(prepared.form.request, values, request)
          : post(mark, values));
        if (result.kind === 'retry' && !isDoubtful) {
          if (unsent.size >= MAX_REMEMBERED) unsent.clear();
          unsent.add(request.key);
        }
        return result;
      };
      const outcome = await sendPieces(piece);
      // A repeat first searches for the post, so it cannot post twice.
      return outcome.kind === 'ok' || find === null ? outcome : { ...outcome, idempotent: true };
    });
}

const postOnce =
  (find: FindPosted, send: Post, prepared: PreparedDelivery, request: DeliveryRequest) =>
  async (mark: string, values: Values): Promise<DeliveryResult> => {
    const since = sinceOf(prepared, request);
    const found = await find((text) => text.includes(mark), { ...values, since }, request);
    if (found.kind !== 'found') return found;
    const [post] = found.posts;
    if (post === undefined) return send(prepared.form.request, values, request);
    const { id, text, message_id } = post;
    const isThere = { kind: 'ok', message_id, json: undefined } as const;
    // A late attempt must not replace the post of a later run.
    if (prepared.update === null || isNewerMarker(text, values.marker)) return isThere;
    return send(prepared.update, { ...values, found: id }, request);
  };

/** Runs one attempt of a series at a time: two at once would both find nothing. Null: the attempt has no series */
function takeTurns(): <T>(series: string | null, attempt: () => Promise<T>) => Promise<T> {
  const latest = new Map<string, Promise<unknown>>();
  return (series, attempt) => {
    if (series === null) return attempt();
    const turn = (latest.get(series) ?? Promise.resolve()).then(attempt);
    const ended = turn.then(NOTHING, NOTHING).then(() => {
      if (latest.get(series) === ended) latest.delete(series);
    });
    latest.set(series, ended);
    return turn;
  };
}

const NOTHING = (): void => undefined;

/** Tolerated difference between the clocks. */
const SINCE_MARGIN_MS = 15 * 60_000;

/** A piece cannot have been posted before the first attempt; a post of a series may be older. */
const sinceOf = ({ series }: PreparedDelivery, { first_attempt_at: first }: DeliveryRequest): string =>
  series !== null || first === null ? '' : `${new Date(first - SINCE_MARGIN_MS).toISOString().slice(0, 19)}Z`;

/**
 * Finds earlier posts by the mark hidden in them (`{marks}`): the post that `mode: upsert` replaces, and a piece whose sending
 * had an unknown outcome. Only posts of the gateway's own account count, because anyone can copy a mark.
 */

/** Maximum number of pages read. */
const MAX_PAGES = 100;

interface FoundPost {
  readonly id: string;
  readonly text: string;
  readonly message_id: string | null;
}

/** Finds posts of the gateway's account: the first page with any, or all. */
type FindPosted = (
  matches: (text: string) => boolean,
  values: Values,
  attempt: Parameters<PieceSender['send']>[2],
  isAll?: boolean,
) => Promise<{ readonly kind: 'found'; readonly posts: readonly FoundPost[] } | NoToken>;

interface FindParts extends Pick<PostingParts, 'target' | 'variant' | 'sender'> {
  readonly findLogin: FindLogin;
}

/** Null for a target without `find`. */
function linkFindPosted(parts: FindParts): FindPosted | null {
  const { target, variant, sender, findLogin } = parts;
  const { find, message_id } = variant.plan;
  if (find === undefined) return null;
  const scope = { base: variant.base, settings: target.settings };
  const pickFind = linkPickRequest(variant.plan, find.requests, scope, toRead(variant.plan));
  const readList = linkReader(find.list);
  const [readText, readId] = [linkReader(find.text), linkReader(find.id)];
  const readAuthor = find.author === undefined ? null : linkReader(find.author);
  const readUrl = message_id === null ? () => undefined : linkReader(message_id);
  return async (matches, values, attempt, isAll = false) => {
    const request = pickFind(values.address)?.request;
    if (request === undefined) return failed('permanent', 'the target cannot list posts at this address');
    const own = readAuthor === null ? null : await findLogin();
    if (own !== null && own.kind !== 'token') return own;
    const posts: FoundPost[] = [];
    for (let page = 1; page <= MAX_PAGES; page++) {
      const result = await sender.send(request, { ...values, page }, attempt);
      if (result.kind !== 'ok') return askFailed('search for earlier posts', result);
      const list = readList(result.json);
      if (!Array.isArray(list)) return failed('permanent', 'the response has no list of earlier posts');
      for (const post of list as readonly unknown[]) {
        const [text, id] = [readText(post), toId(readId(post))];
        if (typeof text !== 'string' || !matches(text) || id === null) continue;
        if (own !== null && !isSame(readAuthor?.(post), own.token)) continue;
        posts.push({ id, text, message_id: toId(readUrl(post)) });
      }
      if (list.length < find.page_size || (!isAll && posts.length > 0)) return { kind: 'found', posts };
    }
    return failed('permanent', `too many earlier posts to search: more than ${MAX_PAGES * find.page_size}`);
  };
}

/** Maximum size of a list of earlier posts, in bytes. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;

/** Requests that only read are judged by their status alone. */
const toRead =
  (plan: LinkedVariant['plan']) =>
  (request: LinkedRequest): LinkedRequest => ({
    ...request,
    classify: linkClassifier({ ...plan, success: OK, message_id: null }),
    maxBytes: MAX_LIST_BYTES,
  });

const isSame = (author: unknown, login: string): boolean =>
  typeof author === 'string' && author.toLowerCase() === login.toLowerCase();

const failed = (kind: NoToken['kind'], reason: string): NoToken => ({ kind, reason, retry_after_ms: null });

/** A question posts nothing, so it is always safe to retry. */
function askFailed(what: string, { kind, reason, retry_after_ms }: Exclude<DeliveryResult, { kind: 'ok' }>): NoToken {
  const isFinal = kind === 'permanent' || kind === 'refresh';
  return { kind: isFinal ? 'permanent' : 'retry', reason: `${what}: ${reason}`, retry_after_ms };
}

/**
 * Finds the account that posts: the setting `login`, or the account that the service reports, cached for a day. Events sent by
 * this account are the gateway's own.
 */

const LOGIN_MS = 86_400_000;

/** The login is cached as the text of a token. */
export type FindLogin = () => Promise<TokenResult>;

const OK: ResponseCondition = [{ kind: 'status', ranges: [{ from: 200, to: 200 }] }];

/** @param account identifies the credentials and their server */
export function linkFindLogin(
  { plan, base, exchange }: Pick<LinkedVariant, 'plan' | 'base' | 'exchange'>,
  { settings }: Pick<BoundTarget, 'settings'>,
  account: string,
  context: TokenContext,
): FindLogin {
  const own = settings.get('login');
  if (own !== undefined) return async () => ({ kind: 'token', token: own, usable_ms: LOGIN_MS });
  const { login } = plan;
  if (login === undefined) return async () => UNKNOWN;
  const ask = linkAsk({ variant: plan, plan: plan.exchange, base, settings }, login.request, OK);
  const read = linkReader(login.path);
  return () =>
    context.tokens.get(`${account} login`, async () => {
      const reply = await (exchange?.ask(ask, NO_VALUES, context) ?? ask(NO_VALUES, context));
      if (reply.kind === 'failed') return reply.failure.kind === 'retry' ? reply.failure : UNKNOWN;
      const found = toId(read(reply.response.json));
      return found === null ? UNKNOWN : { kind: 'token', token: found + login.suffix, usable_ms: LOGIN_MS };
    });
}

const UNKNOWN = {
  kind: 'permanent',
  reason: 'the service does not say which account the credentials belong to: set `login`',
  retry_after_ms: null,
} as const;

const ASK_AGAIN_MS = 60_000;

/** Returns the login, or null while it is unknown. Failed requests are repeated at most once a minute. */
export function rememberLogin(find: FindLogin, clock: Clock): () => string | null {
  let login: string | null = null;
  /** Monotonic ms; no earlier repeat of the request. */
  let from = Number.NEGATIVE_INFINITY;
  return () => {
    if (login === null && from <= clock.monotonic()) {
      from = Number.POSITIVE_INFINITY;
      void find().then((result) => {
        if (result.kind === 'token') login = result.token;
        from = clock.monotonic() + ASK_AGAIN_MS;
      });
    }
    return login;
  };
}
