/**
 * The folders that command agents work in (decisions §5), in `work` of a profile's home:
 *
 *   runs/<id>       `work: run`: for one run, removed after it
 *   removed/        being removed (platform/files.ts)
 *   routes/<name>   `work: route`: permanent, for the runs of one route
 *   scheduled       `work: route`: permanent, for runs that no event started
 *   shared          `work: shared`: permanent, for all runs
 *   conversations/  of known programs (modules/agents/runtime/conversations.ts)
 *
 * Later runs read a folder that a run can write only if the configuration says so. Otherwise, a file that an agent was
 * tricked into writing, for example a CLAUDE.md, would instruct the next one. Such files (obeyed-files.ts) are removed from kept
 * folders before and after each run, unless another run works there.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../../base/errors.ts';
import type { CommandAgentPlan } from '../../../schemas/generated/types.ts';
import { TreeRemover } from '../../platform/files.ts';
import type { Logger } from '../../platform/log.ts';
import { findObeyed } from './obeyed-files.ts';

export interface WorkFolder {
  /** Absolute. */
  readonly path: string;
  /** Call it once no process of the run is left. Never rejects. */
  release(): Promise<void>;
}

/** Paths below `work`; null: a new folder for each run. */
const KEPT: Readonly<Record<CommandAgentPlan['work'], (route: string) => string | null>> = {
  run: () => null,
  route: (route) => (route === '' ? 'scheduled' : join('routes', route)),
  shared: () => 'shared',
};

/** Where programs keep the conversation of a session. @param home the home of the profile */
export const conversationFolder = (home: string, session: string): string =>
  join(home, 'work', 'conversations', createHash('sha256').update(session).digest('hex').slice(0, 32));

export class WorkFolders {
  private readonly log: Logger;
  private readonly open = new Set<string>();
  /** Kept folders: how many runs work there, and when the files for later runs are removed. */
  private readonly kept = new Map<string, { runs: number; cleaned: Promise<void> }>();
  private readonly removers = new Map<string, TreeRemover>();

  constructor(log: Logger) {
    this.log = log;
  }

  /**
   * Creates the folder for a run, mode 0700. Rejects as node:fs does.
   * @param home the home of the profile
   * @param route name of the route; '': no event started the run
   */
  async create(kind: CommandAgentPlan['work'], home: string, route: string): Promise<WorkFolder> {
    // A table of an older compiler lacks `work`.
    const kept = (KEPT[kind] ?? KEPT.run)(route);
    const id = randomUUID();
    const path = join(home, 'work', kept ?? join('runs', id));
    this.open.add(id);
    await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
      this.open.delete(id);
      throw error;
    });
    if (kept === null) return { path, release: () => this.remove(home, id) };
    this.open.delete(id);
    const folder = this.kept.get(path) ?? { runs: 0, cleaned: Promise.resolve() };
    this.kept.set(path, folder);
    if (folder.runs++ === 0) folder.cleaned = folder.cleaned.catch(() => {}).then(() => this.clean(home, path));
    await folder.cleaned.catch((error: unknown) => {
      folder.runs--;
      throw error;
    });
    const release = async (): Promise<void> => {
      if (--folder.runs === 0) folder.cleaned = this.clean(home, path);
      await folder.cleaned.catch((error: unknown) =>
        this.log.warn({ err: error, folder: path }, 'could not remove files that the next run would obey'),
      );
    };
    return { path, release };
  }

  /** Takes away a file or folder that a program has made, if it exists, and removes it in the background. Rejects as node:fs does. */
  async discard(home: string, path: string): Promise<void> {
    await this.remover(home)
      .remove(path)
      .catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
      });
  }

  private async clean(home: string, path: string): Promise<void> {
    for (const found of await findObeyed(Buffer.from(path))) await this.remover(home).remove(found);
  }

  /** Removes the leftover folders of an earlier process in the background. @param homes the homes of the profiles */
  async sweep(homes: readonly string[]): Promise<void> {
    for (const home of homes) {
      const left = await readdir(join(home, 'work', 'runs')).catch(() => []);
      for (const id of left) if (!this.open.has(id)) await this.remove(home, id);
      this.remover(home).resume();
    }
  }

  /** Stops removing; the next start removes the rest. */
  async close(): Promise<void> {
    await Promise.all([...this.removers.values()].map((remover) => remover.close()));
  }

  private async remove(home: string, id: string): Promise<void> {
    const path = join(home, 'work', 'runs', id);
    try {
      await rmdir(path).catch(() => this.discard(home, path));
    } catch (error) {
      this.log.warn({ err: error, folder: path }, 'could not remove the directory of a run');
    }
    this.open.delete(id);
  }

  private remover(home: string): TreeRemover {
    const remover = this.removers.get(home) ?? new TreeRemover(join(home, 'work', 'removed'), this.log);
    this.removers.set(home, remover);
    return remover;
  }
}
