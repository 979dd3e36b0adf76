/** The thread that recompiles while a gateway serves. It receives one request and sends one report. */
import { parentPort, workerData } from 'node:worker_threads';
import type { RecompileRequest } from '../cli/serve/recompile.ts';
import { recompile } from '../cli/serve/recompile.ts';
import { MODULES } from './modules.ts';

parentPort?.postMessage(await recompile(workerData as RecompileRequest, MODULES));
