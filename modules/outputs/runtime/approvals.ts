/** Lists, finds and answers approvals, for commands, the control socket and notices. */

import { createHash } from 'node:crypto';
import { targetLabel, utcTime } from '../../../base/text.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import type { BlockedRow, StoredDispatch } from '../../../runtime/store/queries.ts';
import type { Ref } from '../../../runtime/store/records.ts';
import type { Step } from '../../../runtime/store/states.ts';
import { isAnswer } from '../../../runtime/store/states.ts';
import { isMessage } from '../../../runtime/store/timeline.ts';
import type { FindDestination } from '../../../runtime/table/held-place.ts';
import { addressChanged } from '../../../runtime/table/held-place.ts';
import type {
  AnsweredApproval,
  Approval,
  ApprovalAnswer,
  FoundApproval,
} from '../../../schemas/built/operations/types.ts';
import type { DispatchDelivery } from '../../../schemas/generated/types.ts';

/** Longest stored name and reason, in UTF-16 units. */
const MOST_NAME = 100;
const MOST_REASON = 500;
/** Most attempts to answer, in case the same message starts waiting again in the meantime. */
const TRIES = 3;

/** The target with its address and output. Ambiguous values are quoted, because they may come from a stranger. */
export function receiverOf({ target, output, url, address }: Receiver): string {
  const values = Object.entries(address).map(
    ([name, value]) => `${name}=${PLAIN.test(value) ? value : JSON.stringify(value)}`,
  );
  return [output === null ? target : `${target} (${output})`, ...(url === null ? [] : [url]), ...values].join(' ');
}

type Receiver = Pick<Approval, 'target' | 'output' | 'url' | 'address'>;

const PLAIN = /^[^\s"=\p{C}]+$/u;

/** The state, for people: who answered when, and why. */
export function stateText({ state, expires_at, answer }: Approval): string {
  if (state === 'waiting') return expires_at === null ? state : `waiting until ${utcTime(expires_at)}`;
  if (answer === null) return 'expired: not answered in time';
  const { by, at, reason } = answer;
  return `${state} by ${by} at ${utcTime(at)}${reason === null ? '' : `: ${reason}`}`;
}

/** The approval at a time: only a running gateway ends one that has expired. @param now Unix ms */
const asOf = (approval: Approval, now: number): Approval =>
  approval.state === 'waiting' && (approval.expires_at ?? now + 1) <= now
    ? { ...approval, state: 'expired' }
    : approval;

/** @param now Unix ms; default: as stored */
export async function listApprovals(store: Store, now = 0): Promise<readonly Approval[]> {
  return (await waitingIn(store, () => true)).map(({ approval }) => asOf(approval, now));
}

/** The deliveries that wait for approval, the oldest dispatch first. */
export const blockedByApproval = async (store: Store): Promise<readonly BlockedRow[]> =>
  (await store.read({ kind: 'blocked' })).filter(({ blocked_by }) => blocked_by === 'approval');

/** Null: deleted in the meantime. @param isWaiting false: it has been answered */
export async function loadApproval(store: Store, row: BlockedRow, isWaiting = true): Promise<Approval | null> {
  const stored = await store.read({ kind: 'load', ref: row.ref });
  return stored === null ? null : (approvalOf(stored, row.index, isWaiting ? row : null)?.approval ?? null);
}

/** Searches pending approvals first, then all. @param reference an id or a unique prefix @param now Unix ms; default: as stored */
export async function findApproval(store: Store, reference: string, now = 0): Promise<FoundApproval> {
  const found = await find(store, reference);
  return found.kind === 'found' ? { kind: 'found', approval: asOf(found.one.approval, now) } : found;
}

/**
 * The first answer counts.
 * @param id the whole id: it contains a digest of all that is sent
 * @param now Unix ms
 * @param findPlace the current address of a target; default: unknown
 * @throws ControlError if the target has changed since the message was shown
 */
export async function answerApproval(
  store: Store,
  id: string,
  { approve, by, reason, delay_ms }: ApprovalAnswer,
  now: number,
  findPlace: FindDestination = () => null,
): Promise<AnsweredApproval> {
  for (let tries = 0; ; tries++) {
    const found = await find(store, id);
    if (found.kind !== 'found') return found;
    const { approval, row, delivery } = found.one;
    // A part of it could name a message with another text.
    if (approval.id !== id) return { kind: 'unknown' };
    if (row === null || tries === TRIES || row.expires_at <= now)
      return { kind: 'late', approval: asOf(approval, now) };
    if (approve && addressChanged(findPlace, { ...delivery, profile: approval.profile }))
      throw new ControlError('moved', `${id} was not approved and is still pending: ${MOVED} ${receiverOf(approval)}`);
    const { ref, index, since } = row;
    const delay = approve && delay_ms !== undefined ? { delay_ms } : {};
    const values = { approve, by: printableStart(by, MOST_NAME), reason: cut(reason), ...delay };
    const change = { change: 'answer_approval', ref, index, since, values, dispatch: null, now };
    if (!(await store.write({ kind: 'change_delivery', ...change }))) continue;
    // The answer is stored: nothing that fails from here on may look as if it were not.
    const answer = { by: values.by, at: now, reason: values.reason, takes_effect_at: now + (delay.delay_ms ?? 0) };
    const state = approve ? 'approved' : 'rejected';
    return { kind: 'answered', approval: { ...approval, state, answer, since: null, expires_at: null } };
  }
}

const UNDONE = 'the approval has been undone already: the message waits';

/**
 * Withdraws an approval that has not taken effect: the message waits for the rest of its time, or has expired.
 * @throws ControlError if the message waits, because nothing was approved, or the approval has been undone already
 */
export async function undoApproval(store: Store, id: string, by: string, now: number): Promise<AnsweredApproval> {
  const found = await find(store, id);
  if (found.kind !== 'found') return found;
  const { ref, index, step, delivery } = found.one;
  const approval = asOf(found.one.approval, now);
  if (approval.id !== id) return { kind: 'unknown' };
  if (approval.state === 'waiting')
    throw new ControlError('late', step?.outcome === 'undone' ? UNDONE : 'nothing was approved: the message waits');
  if (approval.state !== 'approved' || step === null) return { kind: 'late', approval };
  const until = step.started_at + (delivery.approve_ms ?? 0);
  const values = { by: printableStart(by, MOST_NAME), from: step.started_at, until };
  const change = { change: 'undo_approval', ref, index, since: step.at, values, dispatch: null, now };
  if (!(await store.write({ kind: 'change_delivery', ...change }))) {
    const stored = await find(store, id);
    if (stored.kind === 'found' && stored.one.row !== null) throw new ControlError('late', UNDONE);
    return { kind: 'late', approval };
  }
  const waits = { state: 'waiting', since: step.started_at, expires_at: until } as const;
  const state = until > now ? waits : { state: 'expired' as const };
  return { kind: 'answered', approval: { ...approval, answer: null, ...state } };
}

const cut = (reason: string | null): string | null => (reason === null ? null : printableStart(reason, MOST_REASON));

const MOVED = 'its target has a new address or content. Reject it and send the event again. Shown target:';

interface ApprovalRow {
  readonly approval: Approval;
  readonly delivery: DispatchDelivery;
  readonly ref: Ref;
  readonly index: number;
  /** The latest answer, or what withdrew it. */
  readonly step: Step | null;
  /** Null: not pending. */
  readonly row: BlockedRow | null;
}

type Match = { readonly kind: 'found'; readonly one: ApprovalRow } | Exclude<FoundApproval, { readonly kind: 'found' }>;

async function find(store: Store, reference: string): Promise<Match> {
  if (reference === '') return { kind: 'unknown' };
  const matches = await waitingIn(store, (id) => id.startsWith(reference) || reference.startsWith(id));
  const waiting = matches.filter(({ approval }) => approval.id.startsWith(reference));
  if (waiting.length > 0) return chosen(waiting);
  const dispatch = await store.read({ kind: 'find', id: reference.split('-')[0] ?? '' });
  if (dispatch.kind !== 'found') return { kind: dispatch.kind === 'ambiguous' ? 'unknown' : dispatch.kind };
  const rows = matches.map(({ row }) => row);
  const all = dispatch.dispatch.dispatch.deliveries.flatMap((_, index) => {
    const row = rows.find((one) => one?.ref === dispatch.dispatch.ref && one.index === index) ?? null;
    const one = approvalOf(dispatch.dispatch, index, row);
    return one?.approval.id.startsWith(reference) === true ? one : [];
  });
  return chosen(all);
}

function chosen(all: readonly ApprovalRow[]): Match {
  const [one] = all;
  if (one === undefined) return { kind: 'unknown' };
  return all.length === 1 ? { kind: 'found', one } : { kind: 'ambiguous', ids: all.map(({ approval }) => approval.id) };
}

/** The pending approvals of the dispatches with matching ids. */
async function waitingIn(store: Store, matches: (id: string) => boolean): Promise<readonly ApprovalRow[]> {
  const rows = (await blockedByApproval(store)).filter(({ id }) => matches(id));
  const refs = [...new Set(rows.map(({ ref }) => ref))];
  const loaded = await Promise.all(refs.map((ref) => store.read({ kind: 'load', ref })));
  // One that was answered in the meantime may have been loaded with its answer.
  const still = new Set((await blockedByApproval(store)).map(nameOf));
  const byRef = new Map(loaded.flatMap((stored) => (stored === null ? [] : [[stored.ref, stored] as const])));
  return rows.flatMap((row) => {
    const stored = still.has(nameOf(row)) ? byRef.get(row.ref) : undefined;
    return (stored === undefined ? null : approvalOf(stored, row.index, row)) ?? [];
  });
}

const nameOf = ({ ref, index, since }: BlockedRow): string => `${ref} ${index} ${since}`;

/** Null: the delivery needs no approval, or has no text yet. @param row null: not pending */
function approvalOf(stored: StoredDispatch, index: number, row: BlockedRow | null): ApprovalRow | null {
  const { dispatch, profile, route, job, event } = stored;
  const delivery = dispatch.deliveries[index];
  const text = stored.answer ?? (isMessage(dispatch) ? dispatch.prompt : null);
  if (delivery?.approve_ms === undefined || text === null) return null;
  const shown = shownOf(delivery, text);
  const { place, ...of } = delivery;
  // A repeated request gets a new id, so that an answer to the first one does not count for it.
  const steps = stored.steps.filter((step) => step.index === index && (isAnswer(step) || step.outcome === 'undone'));
  const step = steps.at(-1) ?? null;
  const answers = steps.reduce((sum, { outcome }) => sum + (outcome === 'undone' ? -1 : 1), 0);
  const earlier = row === null && step?.outcome !== 'undone' ? answers - 1 : answers;
  const held = place === undefined ? [] : [place];
  const all = [of.target, Object.entries(of.extra), shown, ...held, ...(earlier > 0 ? [earlier] : [])];
  const digest = createHash('sha256').update(JSON.stringify(all));
  const approval: Approval = {
    id: `${stored.id}-${index}-${digest.digest('hex').slice(0, 32)}`,
    ...stateOf(step, row !== null),
    profile,
    route,
    job,
    event,
    target: targetLabel(of),
    url: place?.url ?? null,
    address: of.extra,
    output: delivery.output?.name ?? null,
    ...shown,
    since: row?.since ?? null,
    expires_at: row?.expires_at ?? null,
  };
  return { approval, delivery, ref: stored.ref, index, step, row };
}

function shownOf({ output }: DispatchDelivery, answer: string): Pick<Approval, 'text' | 'content'> {
  if (output === undefined) return { text: answer, content: {} };
  const { text = '', ...content } = output.content;
  return { text: typeof text === 'string' ? text : '', content };
}

function stateOf(step: Step | null, isWaiting: boolean): Pick<Approval, 'state' | 'answer'> {
  if (isWaiting) return { state: 'waiting', answer: null };
  // A rejection without a name means that the time has expired.
  if (step === null || step.outcome === 'undone' || step.by === undefined) return { state: 'expired', answer: null };
  const { outcome, by, at, reason, next_at } = step;
  const answer = { by, at, reason, takes_effect_at: next_at ?? at };
  return { state: outcome === 'approved' ? 'approved' : 'rejected', answer };
}
