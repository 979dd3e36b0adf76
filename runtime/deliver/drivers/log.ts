/** The `log` target: the text goes to the gateway's log. */
import type { DeliveryRequest } from '../deliverer.ts';
import type { CreateDriver } from '../driver.ts';

export const createLogDriver: CreateDriver = (_, { log }) => ({
  async deliver({ profile, route, delivery_id, text }: DeliveryRequest) {
    log.info({ profile, route, delivery_id, target: 'log', text }, 'delivered');
    return { kind: 'ok', message_id: null, sent: 1 };
  },
  async show({ text }) {
    return [{ kind: 'text', text }];
  },
  chatId: () => null,
  probe: async () => [],
});
