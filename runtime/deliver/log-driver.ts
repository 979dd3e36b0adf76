/** The targets that send nothing: `log` and `local`. */
import type { CreateDriver, Driver } from './driver.ts';

/** Nothing leaves the process, so there is neither a chat nor a service to probe. */
const driverOf = (deliver: Driver['deliver']): Driver => ({
  immediate: true,
  deliver,
  show: async ({ text }) => [{ kind: 'text', text }],
  chatId: () => null,
  probe: async () => [],
});

export const createLogDriver: CreateDriver = (_, { log }) =>
  driverOf(async ({ key, profile, route, delivery_id, text }) => {
    const dispatch = key.slice(0, key.lastIndexOf(':'));
    log.info({ dispatch, profile, route, delivery_id, target: 'log', text }, 'delivered');
    return { kind: 'ok', message_id: null, sent: 1, logged: true };
  });

/** The `local` target: sends nothing. The text is kept with its dispatch in the store (`hookwright deliveries show`). */
export const createLocalDriver: CreateDriver = () => driverOf(async () => ({ kind: 'ok', message_id: null, sent: 1 }));
