/**
 * A process that runs programs in sandboxes, for tests that need one of another user. Argument: JSON of `SandboxProcess`.
 * Prints the results as JSON.
 */
import { mkdirSync } from 'node:fs';
import { openSandbox } from '../../../modules/sandbox/runtime/sandbox.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import type { ProcessRequest } from '../../../runtime/platform/process/run-process.ts';
import { runProcess } from '../../../runtime/platform/process/run-process.ts';
import type { SandboxExtras } from '../../../runtime/platform/process/sandbox.ts';
import type { SandboxPlan } from '../../../schemas/generated/types.ts';
import { silentLog } from '../../helpers/log.ts';

export interface SandboxProcess {
  readonly home: string;
  readonly userHome: string;
  readonly hidden: readonly string[];
  /** Default: none. */
  readonly kept?: readonly string[];
  /** Starts all runs at once. Default: one after the other. */
  readonly together?: boolean;
  readonly runs: readonly (Pick<ProcessRequest, 'argv' | 'stdin' | 'cwd'> &
    Partial<ProcessRequest> & { readonly plan: SandboxPlan; readonly walls?: SandboxExtras })[];
}

/** The result of a run, with its output as text. */
export interface SandboxResult {
  readonly kind: string;
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly denied: readonly string[];
}

async function main({ home, userHome, hidden, kept = [], together = false, runs }: SandboxProcess): Promise<void> {
  const run = (request: ProcessRequest) => runProcess(request, { clock: systemClock, home });
  const sandbox = openSandbox({
    run,
    home,
    userHome,
    hidden: () => hidden,
    kept: () => kept,
    log: silentLog,
    sweep: true,
  });
  const start = async ({ plan, walls = {}, ...request }: SandboxProcess['runs'][number]): Promise<SandboxResult> => {
    mkdirSync(request.cwd, { recursive: true, mode: 0o700 });
    const env = { PATH: process.env.PATH, HOME: userHome, ...request.env };
    const limits = { timeoutMs: 900_000, maxStdoutBytes: 1_048_576 };
    const result = await sandbox.run(plan, walls, { writable: [request.cwd], ...limits, ...request, env });
    return {
      kind: result.kind,
      code: 'code' in result ? result.code : null,
      stdout: 'stdout' in result ? result.stdout.toString() : '',
      stderr: result.stderr,
      denied: ('denied' in result ? result.denied : undefined) ?? [],
    };
  };
  const results: SandboxResult[] = [];
  if (together) results.push(...(await Promise.all(runs.map(start))));
  else for (const run of runs) results.push(await start(run));
  process.stdout.write(JSON.stringify(results));
}

if (process.argv[1]?.includes('sandbox-process') === true) {
  void main(JSON.parse(process.argv[2] ?? '{}') as SandboxProcess);
}
