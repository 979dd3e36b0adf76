/** Keys that are in the wrong map, and where they belong. */
import { isRoutes, isSettings, isTarget } from './layout.ts';

interface Misplaced {
  /** Any key, if absent. */
  readonly keys?: string;
  /** A key that the schema knows in the same map. */
  readonly beside: string;
  /** Path of the map where it belongs, from the map where it is. */
  readonly under: readonly [string, ...string[]];
  /** Its name there, if it has another. */
  readonly as?: string;
  readonly isMeant?: (value: unknown) => boolean;
}

export const MISPLACED: readonly Misplaced[] = [
  { keys: 'webhook webhooks', beside: 'include', under: ['platforms'], as: 'webhook', isMeant: isSettings },
  {
    keys: 'webhook webhooks routes hooks',
    beside: 'include',
    under: ['platforms', 'webhook'],
    as: 'routes',
    isMeant: isRoutes,
  },
  { beside: 'include', under: ['platforms'], isMeant: isTarget },
  {
    keys: 'chat_id channel message_thread_id thread_id repo pr_number to',
    beside: 'deliver_extra',
    under: ['deliver_extra'],
  },
];
