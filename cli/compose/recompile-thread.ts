/** The thread that recompiles beside a serving gateway: one request in, one report out. */
import { parentPort, workerData } from 'node:worker_threads';
import { readStoredJobs } from '../jobs/stored-jobs.ts';
import type { RecompileRequest } from './recompile.ts';
import { recompile } from './recompile.ts';

const request = workerData as RecompileRequest;
// Jobs may have been made or removed since the request was.
const jobs = await readStoredJobs(request.home);
parentPort?.postMessage(recompile({ ...request, jobs: jobs.map(({ id, name, profile }) => ({ id, name, profile })) }));
