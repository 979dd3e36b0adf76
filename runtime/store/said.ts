/**
 * What was said in a session: the prompts of its runs and their answers, for agents that keep no conversation of their own,
 * and for `session show`. It is read from the dispatches themselves, so that what is removed is not said again.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import { decodeOr, isCount, isDispatch, isText } from './decode.ts';
import type { GuardRow } from './guard-mutations.ts';
import type { Ref, SessionKey } from './identity.ts';
import { sessionName } from './identity.ts';
import type { Query, SaidTurn } from './queries.ts';
import type { Store } from './store.ts';

/** A row with an answer; the texts as stored. */
export interface SaidRow {
  readonly ref: Ref;
  /** JSON. */
  readonly body: string;
  readonly answer: string;
  readonly answered_at: number;
}

/** The same, decoded. The prompt of a burst is without its list until the events before it are known (`fillEvents`). */
export interface ToldRow {
  readonly ref: Ref;
  readonly dispatch: Dispatch;
  readonly answer: string;
  readonly answered_at: number;
}

/** The guard's row of a session that was reset. */
export const resetRow = (of: SessionKey): Pick<GuardRow, 'kind' | 'key'> => ({ kind: 'session', key: sessionName(of) });

/** The body of that row. @param last the number of the latest dispatch that is not told any more */
export const resetBody = (last: Ref): string => JSON.stringify({ last });

function lastReset(body: string | undefined): Ref {
  const { last } = decodeOr<{ readonly last?: unknown }>(body ?? '{}', (value) => value !== null, {});
  return isCount(last) ? (last as Ref) : 0;
}

/**
 * Those rows that are told, without what is damaged.
 * @param rows the latest ones of the session
 * @param reset the body of its `resetRow`
 */
export function toldRows(rows: readonly SaidRow[], reset: string | undefined): readonly ToldRow[] {
  const after = lastReset(reset);
  return rows.flatMap(({ ref, body, answer: text, answered_at }): readonly ToldRow[] => {
    const dispatch = ref > after ? decodeOr<Dispatch | null>(body, isDispatch, null) : null;
    const answer = decodeOr(text, isText, '');
    return dispatch === null || answer === '' ? [] : [{ ref, dispatch, answer, answered_at }];
  });
}

/** The latest turns of these rows that are within the limits, oldest first. */
export function saidIn(
  rows: readonly ToldRow[],
  { turns, chars }: Pick<Extract<Query, { kind: 'said' }>, 'turns' | 'chars'>,
): readonly SaidTurn[] {
  const found = rows.map(({ dispatch: { id, accepted_at, prompt }, answer, answered_at }): SaidTurn => {
    return { id, accepted_at, answered_at, prompt, answer };
  });
  // The event that began a group may be older than an event whose run came first.
  const latest = found.sort((a, b) => b.answered_at - a.answered_at).slice(0, turns);
  let left = chars;
  const fits = ({ prompt, answer }: SaidTurn): boolean => {
    left -= [...prompt].length + [...answer].length;
    return left >= 0;
  };
  const cut = latest.findIndex((turn) => !fits(turn));
  return (cut < 0 ? latest : latest.slice(0, cut)).reverse();
}

/** Most attempts against others that reset the same session. */
const ATTEMPTS = 5;

/**
 * From now on nothing that was accepted so far is told in this session any more. The dispatches stay as they are.
 * @param now Unix ms
 * @returns false: no dispatch of the session is stored
 */
export async function resetSession(store: Store, of: SessionKey, now: number): Promise<boolean> {
  const { key, kind } = resetRow(of);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [said, busy, rows] = await Promise.all([
      store.read({ kind: 'said', of, turns: 1, chars: Number.MAX_SAFE_INTEGER }),
      store.read({ kind: 'sessions', profile: of.profile }),
      store.read({ kind: 'guard_rows', of: kind }),
    ]);
    const expect = rows.find((row) => row.key === key)?.body ?? null;
    if (said.length === 0 && expect === null && !busy.some(({ session }) => session === of.session)) return false;
    const [latest] = await store.read({ kind: 'list', filter: { limit: 1 } });
    const body = resetBody(latest?.ref ?? 0);
    const change = { row: { kind, key }, expect, body, expires_at: null, dispatch: null, now } as const;
    if (await store.write({ kind: 'put_guard', ...change })) return true;
  }
  throw new Error(`the session ${of.session} is being reset by others`);
}
