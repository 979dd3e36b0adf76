/** The thread that recompiles beside a serving gateway: one request in, one report out. */
import { parentPort, workerData } from 'node:worker_threads';
import type { RecompileRequest } from './recompile.ts';
import { recompileServed } from './recompile.ts';

parentPort?.postMessage(await recompileServed(workerData as RecompileRequest));
