/**
 * Finds what was posted earlier, by what is hidden in it (`{marks}`): the post that `mode: upsert` replaces, and a piece whose
 * sending ended in an unknown way. Only a post of the own account counts, because anybody can copy a mark into theirs.
 */
import { linkClassifier, toId } from '../../../runtime/deliver/http/classify-response.ts';
import { linkReader } from '../../../runtime/deliver/http/condition.ts';
import type { NoToken } from '../../../runtime/deliver/http/exchange-token.ts';
import type { PostingParts } from '../../../runtime/deliver/http/http-driver.ts';
import type { LinkedRequest, LinkedVariant } from '../../../runtime/deliver/http/link-variant.ts';
import { linkPickRequest } from '../../../runtime/deliver/http/link-variant.ts';
import type { PieceSender } from '../../../runtime/deliver/http/send-piece.ts';
import type { Values } from '../../../runtime/deliver/http/values.ts';
import type { FindLogin } from './own-login.ts';

/** Pages that are read at most. */
const MAX_PAGES = 100;

export type FoundPost =
  | { readonly kind: 'found'; readonly id: string; readonly text: string; readonly message_id: string | null }
  | { readonly kind: 'none' }
  | NoToken;

/** Looks for a text that holds `mark`. */
export type FindPosted = (
  mark: string,
  values: Values,
  attempt: Parameters<PieceSender['send']>[2],
) => Promise<FoundPost>;

export interface FindParts extends Pick<PostingParts, 'target' | 'variant' | 'sender'> {
  readonly findLogin: FindLogin;
}

/** Null for a target without `find`. */
export function linkFindPosted(parts: FindParts): FindPosted | null {
  const { target, variant, sender, findLogin } = parts;
  const { find, message_id } = variant.plan;
  if (find === undefined) return null;
  const scope = { base: variant.base, settings: target.settings };
  const pickFind = linkPickRequest(variant.plan, find.requests, scope, toRead(variant.plan));
  const readList = linkReader(find.list);
  const [readText, readId] = [linkReader(find.text), linkReader(find.id)];
  const readAuthor = find.author === undefined ? null : linkReader(find.author);
  const readUrl = message_id === null ? () => undefined : linkReader(message_id);
  return async (mark, values, attempt) => {
    const request = pickFind(values.address)?.request;
    if (request === undefined) return failed('permanent', 'there is no list for this address');
    const own = readAuthor === null ? null : await findLogin();
    if (own !== null && own.kind !== 'token') return own;
    for (let page = 1; page <= MAX_PAGES; page++) {
      const result = await sender.send(request, { ...values, page }, attempt);
      if (result.kind !== 'ok') return notFound(result);
      const list = readList(result.json);
      if (!Array.isArray(list)) return failed('permanent', 'the answer holds no list of earlier posts');
      for (const post of list as readonly unknown[]) {
        const [text, id] = [readText(post), toId(readId(post))];
        if (typeof text !== 'string' || !text.includes(mark) || id === null) continue;
        if (own !== null && !isSame(readAuthor?.(post), own.token)) continue;
        return { kind: 'found', id, text, message_id: toId(readUrl(post)) };
      }
      if (list.length < find.page_size) return { kind: 'none' };
    }
    return failed('permanent', `more than ${MAX_PAGES * find.page_size} earlier posts to look through`);
  };
}

/** Longest list of earlier posts that is read, in bytes. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;

/** What is read, and posts nothing, is taken by its status alone. */
const toRead =
  (plan: LinkedVariant['plan']) =>
  (request: LinkedRequest): LinkedRequest => ({
    ...request,
    classify: linkClassifier({
      ...plan,
      success: [{ kind: 'status', ranges: [{ from: 200, to: 200 }] }],
      message_id: null,
    }),
    maxBytes: MAX_LIST_BYTES,
  });

const isSame = (author: unknown, login: string): boolean =>
  typeof author === 'string' && author.toLowerCase() === login.toLowerCase();

const failed = (kind: NoToken['kind'], reason: string): NoToken => ({ kind, reason, retry_after_ms: null });

/** Looking for something posts nothing, so it is always safe to repeat. */
function notFound({ kind, reason, retry_after_ms }: Exclude<Awaited<ReturnType<PieceSender['send']>>, { kind: 'ok' }>) {
  const final = kind === 'permanent' || kind === 'refresh';
  return {
    kind: final ? 'permanent' : 'retry',
    reason: `looking for earlier posts: ${reason}`,
    retry_after_ms,
  } as const;
}
