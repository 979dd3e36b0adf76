/**
 * Kills descendants of a program that have left its process group (daemons: double fork, setsid), on Linux.
 *
 * Each run has a random mark in its environment, which every descendant inherits and which the kernel shows in
 * `/proc/<pid>/environ`. So all processes of a run are found without privileges, namespaces or a helper program, except
 * those that clear or overwrite their environment or change their user. Other systems have no `/proc`: see docs/agents.md.
 */
import { readdir, readFile } from 'node:fs/promises';

/** The variable that holds the mark. */
export const RUN_MARK = 'HOOKWRIGHT_RUN';

/** Maximum number of rounds, for a program that keeps forking. */
const MAX_ROUNDS = 50;

/** Up to this number, ids are tried one by one, because listing all processes costs more. */
const FEW = 32;

interface MarkedRun {
  /** The value of RUN_MARK: random letters and digits. */
  readonly mark: string;
  /** Process id of the program itself. */
  readonly pid: number;
  /**
   * `new`: only process ids assigned since the program started, which is cheap and suffices after a normal exit. `all`: every
   * process, even if process ids have wrapped around.
   */
  readonly scope: 'new' | 'all';
}

/** Resolves once no process of the run is alive; never rejects. */
export async function killLeavers(run: MarkedRun): Promise<void> {
  if (process.platform !== 'linux') return;
  const entry = Buffer.from(`${RUN_MARK}=${run.mark}\0`);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const pids = (await processIds(run)).map((pid) => killMarked(pid, entry));
    if (!(await Promise.all(pids)).includes(true)) return;
  }
}

async function processIds({ pid, scope }: MarkedRun): Promise<readonly number[]> {
  try {
    // The last field is the most recently assigned id. If it is below the program's own, ids have wrapped around.
    const last = scope === 'all' ? 0 : Number((await readFile('/proc/loadavg', 'latin1')).trimEnd().split(' ').at(-1));
    if (last >= pid && last - pid <= FEW) return Array.from({ length: last - pid }, (_, index) => pid + 1 + index);
    const found = (await readdir('/proc')).map(Number).filter((id) => id > 0 && id !== process.pid);
    if (scope === 'all') return found;
    return found.filter((id) => (last >= pid ? id > pid : id > pid || id <= last));
  } catch {
    return [];
  }
}

/** Kills the process if it belongs to the run; resolves to true if it did. An ended process has an empty environment. */
async function killMarked(pid: number, entry: Buffer): Promise<boolean> {
  try {
    if (!(await readFile(`/proc/${pid}/environ`)).includes(entry)) return false;
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    // It has already ended, or belongs to another user.
    return false;
  }
}
