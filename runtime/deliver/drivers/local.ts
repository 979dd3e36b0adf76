/** The `local` target: sends nothing. The text is kept with its dispatch in the store (`hookwright deliveries show`). */
import type { CreateDriver } from '../driver.ts';

export const createLocalDriver: CreateDriver = () => ({
  immediate: true,
  deliver: async () => ({ kind: 'ok', message_id: null, sent: 1 }),
  async show({ text }) {
    return [{ kind: 'text', text }];
  },
  chatId: () => null,
  probe: async () => [],
});
