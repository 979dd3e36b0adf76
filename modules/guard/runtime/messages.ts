/** The messages of the gateway itself: their texts, and their dispatches, which are delivered like any other. */

import { alertTitle } from '../../../base/alert-kinds.ts';
import type { AlertCondition } from '../../../runtime/dispatch/guard.ts';
import { renderReceivers } from '../../../runtime/dispatch/own-message.ts';
import { printableStart } from '../../../runtime/platform/printable.ts';
import type { LastingAlert } from '../../../schemas/built/operations/types.ts';
import type { Dispatch, RouteTable } from '../../../schemas/generated/types.ts';

/** Longest reason and subject, in UTF-16 units. */
const MOST_CHARS = 500;

/** Of a text that a sender may have chosen, such as an address. */
export const alertSubject = (text: string): string => printableStart(text, MOST_CHARS);

const cut = (text: string): string => (text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS - 1)}…` : text);
const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

export function beginText({ kind, subject }: AlertCondition, reason: string): string {
  return `hookwright: ${alertTitle(kind)}: ${subject}\n${cut(reason)}`;
}

export function summaryText({ kind, subject, since, count, reason }: LastingAlert): string {
  const begun = new Date(since).toISOString();
  return `hookwright: still, ${alertTitle(kind)}: ${subject}\n${times(count)} since ${begun}; the last: ${cut(reason)}`;
}

export function endText({ kind, subject, since, count }: LastingAlert, now: number): string {
  const minutes = Math.max(1, Math.round((now - since) / 60_000));
  return `hookwright: over, ${alertTitle(kind)}: ${subject}\n${times(count)} in ${minutes} min`;
}

/** Where alerts go, without the target that this one is about. */
export function receivers(table: RouteTable, about: AlertCondition['about']): Dispatch['deliveries'] {
  const all = renderReceivers(table.gateway.alerts?.deliver ?? [], table);
  return all.filter(({ target }) => about?.profile !== 'default' || about.target !== target);
}
