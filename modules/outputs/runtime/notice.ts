/** The texts of approval requests: what would be sent and where to, and how to answer, or who has answered. */

import { hostname } from 'node:os';
import { isWildcard, listenUrl } from '../../../base/net.ts';
import { codeBlock, escapeInvisible, escapeInvisibleInLines, invisibleNote, utcTime } from '../../../base/text.ts';
import type { Approval } from '../../../schemas/built/operations/types.ts';
import type { ConsolePlan } from '../../../schemas/generated/types.ts';
import { receiverOf, stateText } from './approvals.ts';

/** Prefixes each line with `>`, so that no line of the message looks like one of the gateway where code blocks are not shown. */
const quoted = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => `> ${line}`)
    .join('\n');

/**
 * What a stranger may have chosen is in code blocks. A notice is one message: the blocks are cut.
 * @param console URL of the console; null: no console @param fits whether every receiver gets it as one message
 */
export function noticeText(
  approval: Approval,
  console: string | null,
  fits: (notice: string) => boolean = () => true,
): string {
  let notice = noticeOf(approval, console, Number.POSITIVE_INFINITY);
  for (let room = MOST_SHOWN; room > 0 && !fits(notice); room = Math.floor(room * 0.8))
    notice = noticeOf(approval, console, room);
  return notice;
}

/** No target takes a longer message. */
const MOST_SHOWN = 100_000;

/** @param room for the blocks, in UTF-16 units */
function noticeOf(approval: Approval, console: string | null, room: number): string {
  const { id, state, text, content, expires_at } = approval;
  const fields = Object.entries(content).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const until = expires_at === null ? [] : [`expires ${utcTime(expires_at)}`];
  const note = invisibleNote([text, ...fields].join('\n'));
  // In another block than the text, whose lines could look like fields.
  const to = [`to ${receiverOf(approval)}`, ...fields.map((field) => `with ${field}`)].map(escapeInvisible).join('\n');
  const [shownTo, shown] = [to.slice(0, room), text.slice(0, Math.max(0, room - to.length))];
  const isCut = shownTo !== to || shown !== text;
  const total = `too long for this message: ${text.length} characters, of which ${shown.length} are shown; all: `;
  const page = console === null ? [] : [`${console}/#/approvals/${id}`];
  return [
    `hookwright: a message of ${ownerOf(approval)}${state === 'waiting' ? ' needs your approval' : `: ${stateText(approval)}`}`,
    codeBlock(shownTo),
    ...until,
    ...(note === null ? [] : [note]),
    ...(text.includes('```') ? ['\\u0060 in the text stands for a backtick'] : []),
    ...(shown === '' ? [] : [codeBlock(quoted(escapeInvisibleInLines(shown)))]),
    ...(isCut ? [total + (page[0] ?? `hookwright approvals show ${id}`)] : []),
    ...(state === 'waiting' ? [`hookwright approvals approve ${id}`, `hookwright approvals reject ${id}`] : []),
    ...page,
  ].join('\n');
}

/** The display name of the owner; also the subject of its alert, so it must be stable. */
export function ownerOf({ profile, route, job }: Pick<Approval, 'profile' | 'route' | 'job'>): string {
  const owner = job === null ? `route ${route ?? ''}` : `job ${job}`;
  return profile === 'default' ? owner : `${owner} (profile ${profile})`;
}

/** The URL for people: a wildcard address is replaced with the host name. */
export function consoleUrl(plan: ConsolePlan | null): string | null {
  if (plan === null) return null;
  return listenUrl(isWildcard(plan.host) ? hostname() : plan.host, plan.port) + (plan.base_path ?? '');
}
