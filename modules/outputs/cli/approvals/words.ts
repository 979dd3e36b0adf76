/** What commands say of a message that waits for a person, or has done so. */

import { CliError } from '../../../../cli/base/errors.ts';
import { ambiguousName } from '../../../../cli/command-line/find-name.ts';
import { ownerText } from '../../../../cli/deliveries/owner-text.ts';
import type { AnsweredApproval, Approval, FoundApproval } from '../../../../schemas/built/operations/types.ts';

const LISTED_BY = 'hookwright approvals list';

/** @param answer null: nothing is stored @throws CliError if none or several are meant */
export function found(id: string, answer: FoundApproval | AnsweredApproval | null): Approval {
  if (answer !== null && 'approval' in answer) return answer.approval;
  if (answer?.kind === 'ambiguous') throw ambiguousName('approval', id, answer.ids, LISTED_BY);
  throw new CliError(`there is no approval "${id}"`, `${LISTED_BY} shows what waits; another text has another id`);
}

export const senderText = (approval: Approval): string =>
  approval.profile === 'default' ? ownerText(approval) : `${ownerText(approval)} (profile ${approval.profile})`;

/** The further fields of an output. */
export const contentLines = ({ content }: Approval): readonly (readonly [string, string])[] =>
  Object.entries(content).map(([name, value]) => [
    name,
    Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(', ') : JSON.stringify(value),
  ]);

export function stateText({ state, expires_at, answer }: Approval): string {
  if (state === 'waiting') return expires_at === null ? state : `waiting until ${new Date(expires_at).toISOString()}`;
  if (answer === null) return 'expired: nobody has answered in time';
  const { by, at, reason } = answer;
  return `${state} by ${by} at ${new Date(at).toISOString()}${reason === null ? '' : `: ${reason}`}`;
}
