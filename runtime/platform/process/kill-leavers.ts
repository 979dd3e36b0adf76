/**
 * Kills what a program started and what then left its process group (a daemon: double fork, setsid), on Linux.
 *
 * Each run has a random mark in its environment, which every descendant inherits and which the kernel shows in
 * `/proc/<pid>/environ`. So a run's processes are found wherever they went, without privileges, namespaces or a helper
 * program. A program that clears or overwrites its environment, or becomes another user, is not found, and there is no
 * `/proc` on other systems: docs/agents.md says what holds there.
 */
import { readdir, readFile } from 'node:fs/promises';

/** The variable that holds the mark. */
export const RUN_MARK = 'HOOKWRIGHT_RUN';

/** Rounds after which a program that keeps forking is given up on. */
const MAX_ROUNDS = 50;

/** Up to this many ids are tried one by one: listing all processes costs more. */
const FEW = 32;

export interface MarkedRun {
  /** What RUN_MARK is set to: letters and digits that occur nowhere else. */
  readonly mark: string;
  /** Process id of the program itself. */
  readonly pid: number;
  /**
   * `new`: only process ids given out since the program was started, which costs next to nothing; enough after a regular
   * end. `all`: every process, also when the ids have gone round since.
   */
  readonly look: 'new' | 'all';
}

/** Resolves once no process of the run is alive. Never rejects. */
export async function killLeavers(run: MarkedRun): Promise<void> {
  if (process.platform !== 'linux') return;
  const entry = Buffer.from(`${RUN_MARK}=${run.mark}\0`);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const pids = (await processIds(run)).map((pid) => killMarked(pid, entry));
    if (!(await Promise.all(pids)).includes(true)) return;
  }
}

async function processIds({ pid, look }: MarkedRun): Promise<readonly number[]> {
  try {
    // The last field is the id given out last; below the program's own, the ids have begun anew.
    const last = look === 'all' ? 0 : Number((await readFile('/proc/loadavg', 'latin1')).trimEnd().split(' ').at(-1));
    if (last >= pid && last - pid <= FEW) return Array.from({ length: last - pid }, (_, index) => pid + 1 + index);
    const found = (await readdir('/proc')).map(Number).filter((id) => id > 0 && id !== process.pid);
    if (look === 'all') return found;
    return found.filter((id) => (last >= pid ? id > pid : id > pid || id <= last));
  } catch {
    return [];
  }
}

/** Whether the process is one of the run's. One that has ended already has an empty environment. */
async function killMarked(pid: number, entry: Buffer): Promise<boolean> {
  try {
    if (!(await readFile(`/proc/${pid}/environ`)).includes(entry)) return false;
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    // Gone meanwhile, or another user's.
    return false;
  }
}
