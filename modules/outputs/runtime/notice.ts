/** The message that asks a person for an approval. */

import { hostname } from 'node:os';
import { isWildcard, listenUrl } from '../../../base/listen-address.ts';
import { showUnseen, showUnseenInLines, unseenNote } from '../../../base/unseen.ts';
import type { Approval } from '../../../schemas/built/operations/types.ts';
import type { ConsolePlan } from '../../../schemas/generated/types.ts';
import { receiverOf } from './approvals.ts';

const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/** Each line of what is shown begins with `>`, so that no line of it can look like one of the gateway. */
const quoted = (text: string): string =>
  text
    .split(LINE_BREAK)
    .map((line) => `> ${showUnseenInLines(line)}`)
    .join('\n');

/** @param console its URL; null: there is none */
export function noticeText(approval: Approval, console: string | null): string {
  const { id, text, content, expires_at } = approval;
  const fields = Object.entries(content).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const until = expires_at === null ? [] : [`until ${new Date(expires_at).toISOString()}`];
  const note = unseenNote([text, ...fields].join('\n'));
  return [
    `hookwright: a message of ${ownerOf(approval)} waits for your approval`,
    `to ${showUnseen(receiverOf(approval))}`,
    // Not among the lines of the text, which could look like them.
    ...fields.map((field) => `with ${showUnseen(field)}`),
    ...until,
    ...(note === null ? [] : [note]),
    '',
    ...(text === '' ? [] : [quoted(text), '']),
    `hookwright approvals approve ${id}`,
    `hookwright approvals reject ${id}`,
    ...(console === null ? [] : [`${console}/#/approvals/${id}`]),
  ].join('\n');
}

/** For people, and the same each time. */
export function ownerOf({ profile, route, job }: Pick<Approval, 'profile' | 'route' | 'job'>): string {
  const owner = job === null ? `route ${route ?? ''}` : `job ${job}`;
  return profile === 'default' ? owner : `${owner} (profile ${profile})`;
}

/** Where people open it; a wildcard address is no name. */
export function consoleUrl(plan: ConsolePlan | null): string | null {
  if (plan === null) return null;
  return listenUrl(isWildcard(plan.host) ? hostname() : plan.host, plan.port);
}
