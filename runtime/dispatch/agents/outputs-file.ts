/** The file in which a program hands over outputs: in a folder of its own, which is removed after the run. */
import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import { codeOf } from '../../../base/code-of.ts';
import { messageOf } from '../../../base/message-of.ts';
import { readOwnFile } from '../../../base/read-regular-file.ts';
import { isLack } from '../../platform/process/run-process.ts';
import type { AgentRequest } from '../agent-runner.ts';
import { AgentError, AgentNotStarted } from '../agent-runner.ts';
import type { WorkFolder, WorkFolders } from './work-folders.ts';

/** Largest file that is read, in bytes; a larger one is none. */
const MAX_BYTES = 256 * 1024;

export interface OutputsFile {
  readonly env: Readonly<Record<string, string>>;
  /** Its folder, which the program writes. */
  readonly folder: string;
  /** Hands over what the program has written, and removes the folder. Call it once no process of the run is left. */
  close(): Promise<void>;
}

/** Rejects with AgentError when the folder cannot be created. */
export async function openOutputs(
  { outputs, route }: AgentRequest,
  { workFolders, folder }: { readonly workFolders: Pick<WorkFolders, 'create'>; readonly folder: string },
): Promise<OutputsFile> {
  const own = await workFolders.create('run', folder, route).catch((error: unknown): WorkFolder => {
    const reason = `the folder for its outputs cannot be created (${codeOf(error) ?? messageOf(error)})`;
    throw isLack(error) ? new AgentNotStarted(reason) : new AgentError(reason);
  });
  const path = join(own.path, 'outputs.jsonl');
  return {
    env: { HOOKWRIGHT_OUTPUTS_FILE: path },
    folder: own.path,
    async close() {
      try {
        const bytes = await readOwnFile(path, MAX_BYTES);
        if (isUtf8(bytes))
          outputs?.take(
            bytes
              .toString('utf8')
              .split('\n')
              .filter((line) => line.trim() !== ''),
          );
        else outputs?.refuse('the file is not UTF-8');
      } catch (error) {
        const code = codeOf(error);
        if (code !== 'ENOENT')
          outputs?.refuse(code === 'EFBIG' ? `the file is larger than ${MAX_BYTES} bytes` : String(code));
      }
      await own.release();
    },
  };
}
