/** `hookwright/runtime`, with the modules of this program. */
import type { Service, ServiceOptions } from '../runtime/service/options.ts';
import { createService as create } from '../runtime/service/service.ts';
import { MODULES } from './modules.ts';

export * from '../runtime/index.ts';

/**
 * Links the table and opens the store; nothing listens or runs yet. Rejects with TableError listing everything that
 * prevents serving the table, with StoreRefused when the store cannot be used.
 */
export const createService = (options: ServiceOptions): Promise<Service> =>
  create(
    options,
    MODULES.flatMap(({ runtime }) => runtime ?? []),
  );
