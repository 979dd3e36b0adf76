/** The thread that recompiles beside a serving gateway: one request in, one report out. */
import { parentPort, workerData } from 'node:worker_threads';
import type { RecompileRequest } from '../cli/serve/recompile.ts';
import { recompile } from '../cli/serve/recompile.ts';
import { MODULES } from './modules.ts';

parentPort?.postMessage(await recompile(workerData as RecompileRequest, MODULES));
