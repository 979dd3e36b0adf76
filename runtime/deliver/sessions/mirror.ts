/** Mirrors delivered texts into the chat's session (§4.7). Best effort: a failure does not fail the delivery. */
import { codeOf } from '../../../base/code-of.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Sessions } from '../../store/sessions.ts';
import type { DeliveryRequest } from '../deliverer.ts';

export type MirroredDelivery = Pick<DeliveryRequest, 'profile' | 'route' | 'target' | 'text' | 'delivery_id'> & {
  readonly chat_id: string;
};

/** Never rejects. Does nothing when the chat has no session yet. */
export type MirrorDelivery = (delivery: MirroredDelivery) => Promise<void>;

export interface MirrorContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly sessions: Sessions;
}

/** Creates the function that mirrors delivered texts. */
export function createMirror({ clock, log, sessions }: MirrorContext): MirrorDelivery {
  return async ({ profile, route, target, text, delivery_id, chat_id }) => {
    try {
      const content = `[Webhook delivery: ${route}]\n${text}`;
      const at = new Date(clock.now()).toISOString();
      await sessions.append({ profile, target, chatId: chat_id }, { role: 'user', content, at });
    } catch (error) {
      const reason = codeOf(error) ?? 'unknown';
      log.warn({ profile, route, target, delivery_id, reason }, 'the delivered text could not be mirrored');
    }
  };
}
