/**
 * The driver of HTTP targets that find what they have posted, know who posts, or have an app's token for each address: code hosts.
 *
 * A target with `find` looks for what was posted before, where a repeat might post it twice, and for `mode: upsert`.
 */
import type { DeliveryRequest } from '../../../runtime/deliver/deliverer.ts';
import type { CreateDriver } from '../../../runtime/deliver/driver.ts';
import type { DeliveryResult } from '../../../runtime/deliver/http/classify-response.ts';
import type { LinkTokens } from '../../../runtime/deliver/http/exchange-token.ts';
import { linkExchange } from '../../../runtime/deliver/http/exchange-token.ts';
import type { Posting, PostingParts, SendPiece } from '../../../runtime/deliver/http/http-driver.ts';
import { extendHttpDriver } from '../../../runtime/deliver/http/http-driver.ts';
import type { PreparedDelivery } from '../../../runtime/deliver/http/prepare-delivery.ts';
import type { PieceSender } from '../../../runtime/deliver/http/send-piece.ts';
import type { Values } from '../../../runtime/deliver/http/values.ts';
import { isNewerMarker } from '../../../runtime/table/loop-marker.ts';
import { linkAppTokens } from './app-tokens.ts';
import type { FindPosted } from './find-posted.ts';
import { linkFindPosted } from './find-posted.ts';
import { linkFindLogin, rememberLogin } from './own-login.ts';

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
  return {
    ...(variant.plan.login === undefined ? {} : { ownLogin: rememberLogin(findLogin, context.clock) }),
    ...(find === null ? {} : { attempt: linkAttempt(find, sender) }),
  };
}

export const createPostsDriver: CreateDriver = extendHttpDriver({ linkTokens, linkPosting });

/** Most deliveries that are remembered as not sent. */
const MAX_REMEMBERED = 1000;

/** Posts what is not there yet; replaces what is, in a series. */
function linkAttempt(find: FindPosted, sender: PieceSender): NonNullable<Posting['attempt']> {
  /** Keys whose last attempt posted nothing for certain, so that nothing is looked for. */
  const unsent = new Set<string>();
  const inTurn = takeTurns();
  return (prepared, request, send) =>
    inTurn(prepared.series, async () => {
      const isDoubtful = request.first_attempt_at !== null && !unsent.has(request.key);
      unsent.delete(request.key);
      const post = postOnce(find, sender, prepared, request);
      const piece: SendPiece = async (values, index) => {
        const mark = prepared.series ?? (isDoubtful && index === request.sent ? values.key : null);
        const result = await (mark === null ? sender.send(prepared.form.request, values, request) : post(mark, values));
        if (result.kind === 'retry' && !isDoubtful) {
          if (unsent.size >= MAX_REMEMBERED) unsent.clear();
          unsent.add(request.key);
        }
        return result;
      };
      const outcome = await send(piece);
      // A repeat looks for what it might post twice.
      return outcome.kind === 'ok' ? outcome : { ...outcome, idempotent: true };
    });
}

const postOnce =
  (find: FindPosted, sender: PieceSender, prepared: PreparedDelivery, request: DeliveryRequest) =>
  async (mark: string, values: Values): Promise<DeliveryResult> => {
    const found = await find(mark, { ...values, since: sinceOf(prepared, request) }, request);
    if (found.kind === 'none') return sender.send(prepared.form.request, values, request);
    if (found.kind !== 'found') return found;
    const isThere = { kind: 'ok', message_id: found.message_id, json: undefined } as const;
    // A late attempt must not replace what a later run has said.
    if (prepared.update === null || isNewerMarker(found.text, values.marker)) return isThere;
    return sender.send(prepared.update, { ...values, found: found.id }, request);
  };

/** One attempt of a series at a time: two at once would both find nothing. @returns runs one; null: it is of no series */
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

/** Clocks may differ by that much. */
const SINCE_MARGIN_MS = 15 * 60_000;

/** A piece cannot have been posted before the first attempt; a post of a series may be older. */
const sinceOf = ({ series }: PreparedDelivery, { first_attempt_at: first }: DeliveryRequest): string =>
  series !== null || first === null ? '' : `${new Date(first - SINCE_MARGIN_MS).toISOString().slice(0, 19)}Z`;
