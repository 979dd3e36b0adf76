/** The messages of the gateway itself: their texts, and their dispatches, which are delivered like any other. */
import { alertTitle } from '../../../base/alert-kinds.ts';
import type { AlertCondition, LastingAlert } from '../../../runtime/dispatch/guard.ts';
import type { Ids } from '../../../runtime/platform/ids.ts';
import { linkDelivery, renderDeliveries } from '../../../runtime/table/link-delivery.ts';
import type { Dispatch, RouteTable } from '../../../schemas/generated/types.ts';

/** Longest reason, in UTF-16 units. */
const MOST_CHARS = 500;

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

/** A message that belongs to no route and no job, so that its own end is no condition. */
export function alertMessage(
  ids: Ids,
  now: number,
  of: Pick<Dispatch, 'profile' | 'event' | 'prompt' | 'deliveries'>,
): Dispatch {
  const id = ids.dispatch(now);
  return {
    ...of,
    ...{
      id,
      mode: 'message',
      route: null,
      job: null,
      delivery_id: `${of.event}:${id}`,
      accepted_at: now,
      due_at: null,
    },
    ...{ agent: null, skills: [], toolsets: [], session: `${of.event}:${id}`, mirror_to_session: false },
    ...{ superseded: 0, replay_of: null },
  };
}

/** Where alerts go, without the target that this one is about. */
export function receivers(table: RouteTable, about: AlertCondition['about']): Dispatch['deliveries'] {
  const linked = (table.gateway.alerts?.deliver ?? []).map((plan) => linkDelivery(plan, table.targets));
  const all = renderDeliveries(linked, null, { event_type: '', route: '', delivery_id: '' });
  return all.filter(({ target }) => about?.profile !== 'default' || about.target !== target);
}
