/** The workers of the fuzz harness, one for each way in which text or bytes of others get into the program. */
import type { FuzzWorker } from './worker.ts';
import { bodies } from './workers/bodies.ts';
import { configs } from './workers/configs.ts';
import { headers } from './workers/headers.ts';
import { http } from './workers/http.ts';
import { subscriptions } from './workers/subscriptions.ts';
import { tables } from './workers/tables.ts';

export const WORKERS = [
  http,
  headers,
  bodies,
  configs,
  subscriptions,
  tables,
] as readonly unknown[] as readonly FuzzWorker<unknown>[];
