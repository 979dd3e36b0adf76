/** The workers of the fuzz harness, one for each way in which untrusted text or bytes get into the program. */
import type { FuzzWorker } from './worker.ts';
import { bodies } from './workers/bodies.ts';
import { configs } from './workers/configs.ts';
import { control } from './workers/control.ts';
import { controlAnswers } from './workers/control-answers.ts';
import { echoes } from './workers/echoes.ts';
import { headers } from './workers/headers.ts';
import { http } from './workers/http.ts';
import { mail } from './workers/mail.ts';
import { notices } from './workers/notices.ts';
import { subscriptions } from './workers/subscriptions.ts';
import { tables } from './workers/tables.ts';
import { targets } from './workers/targets.ts';

/** Cases have different types for each worker; callers treat them as unknown. */
export const WORKERS = [
  http,
  headers,
  bodies,
  configs,
  subscriptions,
  tables,
  control,
  controlAnswers,
  targets,
  mail,
  echoes,
  notices,
] as readonly unknown[] as readonly FuzzWorker<unknown>[];
