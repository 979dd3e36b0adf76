/** The interface of known programs (`use` of an agent): a module starts them, and reads what they print, by data of the catalog. */
import type { ProgramPlan } from '../../../schemas/generated/types.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ProcessResult } from '../../platform/process/run-process.ts';
import type { Usage } from '../../store/usage.ts';
import type { AgentRequest } from '../agent-runner.ts';
import type { WorkFolders } from './work-folders.ts';

/** What a program printed. */
export interface PrintedAnswer {
  /** Null: there is no complete answer. */
  readonly text: string | null;
  readonly usage: Usage | null;
  /** Why there is no answer, as the program says; null: it does not say. May contain secrets. */
  readonly reason?: string | null;
  /** True if no other attempt can succeed. */
  readonly permanent?: boolean;
}

/** A server that a program can start to call tools of hookwright. */
export interface McpServer {
  readonly command: string;
  readonly args: readonly string[];
}

/** One run of a known program. */
export interface ProgramRun {
  /** The arguments after the program. */
  readonly args: readonly string[];
  readonly prompt: string;
  readonly env: Readonly<Record<string, string>>;
  /** The folder to work in, if the configuration names none: a conversation needs the same one for all its runs. */
  readonly cwd: string | null;
  /** Its private folders. */
  readonly writable: readonly string[];
  /** Whether a line of its output can matter. */
  keepLine(line: Buffer): boolean;
  /** Reads the output, and removes what is not kept. Call it once no process of the run is left. */
  end(result: ProcessResult): Promise<PrintedAnswer>;
}

export interface ProgramContext {
  /** The profile's home. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly workFolders: Pick<WorkFolders, 'create' | 'discard'>;
}

export interface KnownProgram {
  /**
   * Rejects with AgentError when its folders cannot be prepared.
   * @param args the arguments of the plan
   * @param own the variables that the configuration sets
   */
  start(
    request: AgentRequest,
    args: readonly string[],
    server?: McpServer | null,
    own?: Readonly<Record<string, string>>,
  ): Promise<ProgramRun>;
}

export type OpenProgram = (plan: ProgramPlan, context: ProgramContext) => KnownProgram;
