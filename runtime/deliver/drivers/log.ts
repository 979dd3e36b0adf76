/** The targets that send nothing: `log` and `local`. */
import type { DeliveryRequest } from '../deliverer.ts';
import type { CreateDriver } from '../driver.ts';

export const createLogDriver: CreateDriver = (_, { log }) => ({
  immediate: true,
  async deliver({ key, profile, route, delivery_id, text }: DeliveryRequest) {
    const dispatch = key.slice(0, key.lastIndexOf(':'));
    log.info({ dispatch, profile, route, delivery_id, target: 'log', text }, 'delivered');
    return { kind: 'ok', message_id: null, sent: 1, logged: true };
  },
  async show({ text }) {
    return [{ kind: 'text', text }];
  },
  chatId: () => null,
  probe: async () => [],
});

/** The `local` target: sends nothing. The text is kept with its dispatch in the store (`hookwright deliveries show`). */
export const createLocalDriver: CreateDriver = () => ({
  immediate: true,
  deliver: async () => ({ kind: 'ok', message_id: null, sent: 1 }),
  async show({ text }) {
    return [{ kind: 'text', text }];
  },
  chatId: () => null,
  probe: async () => [],
});
