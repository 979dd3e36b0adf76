/** The folder through which a program hands over outputs: as lines of a file, or with the tools of a server (MCP). */
import { isUtf8 } from 'node:buffer';
import { writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { codeOf, messageOf } from '../../../base/errors.ts';
import { readOwnFile } from '../../../base/files.ts';
import { isTemporaryLack } from '../../platform/process/run-process.ts';
import type { AgentRequest } from '../agent-runner.ts';
import { AgentError, AgentNotStarted } from '../agent-runner.ts';
import type { McpServer } from './known-program.ts';
import type { WorkFolders } from './work-folders.ts';

/** Largest file of outputs that is read, in bytes; a larger one is rejected. */
export const MAX_BYTES = 256 * 1024;

/** The file through which a program hands over outputs. It is in a separate folder, which is removed after the run. */
interface OutputsFile {
  readonly env: Readonly<Record<string, string>>;
  /** The file that describes the server of its outputs, as programs read it. */
  readonly config: string;
  /** The server of its outputs; null if the route has none. */
  readonly server: McpServer | null;
  /** What the server needs in a sandbox. */
  readonly readable: readonly string[];
  /** Its folder, which the program writes. */
  readonly folder: string;
  /** Reads the outputs, and removes the folder. Call it once no process of the run is left. */
  close(): Promise<void>;
}

/** The lines of a file of outputs, without blank ones. */
export const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

/** What the outputs of a run are, for the server that declares them; beside the file of outputs. */
export const DECLARATION = 'outputs.json';

/** Whether a command names the file that describes the server. Without outputs, the file names none. */
export const usesServer = (argv: readonly string[]): boolean => argv.some((each) => each.includes('{outputs_mcp}'));

/** Rejects with AgentError when the folder cannot be created. */
export async function openOutputs(
  { outputs, route }: AgentRequest,
  { workFolders, folder }: { readonly workFolders: Pick<WorkFolders, 'create'>; readonly folder: string },
): Promise<OutputsFile> {
  const fail = (error: unknown): never => {
    const reason = `cannot create the folder for its outputs (${codeOf(error) ?? messageOf(error)})`;
    throw isTemporaryLack(error) ? new AgentNotStarted(reason) : new AgentError(reason);
  };
  const own = await workFolders.create('run', folder, route).catch(fail);
  const path = join(own.path, 'outputs.jsonl');
  const config = join(own.path, 'mcp.json');
  const { argv: [command, ...args] = [], declaration = '' } = outputs?.mcp ?? {};
  const server = command === undefined ? null : { command, args: [...args, path] };
  const mcpServers = server === null ? {} : { hookwright: server };
  try {
    await writeFile(join(own.path, DECLARATION), declaration);
    await writeFile(config, JSON.stringify({ mcpServers }));
  } catch (error) {
    await own.release();
    fail(error);
  }
  return {
    env: outputs === undefined ? {} : { HOOKWRIGHT_OUTPUTS_FILE: path, HOOKWRIGHT_OUTPUTS_MCP: config },
    config,
    server,
    readable: (outputs?.mcp?.argv ?? []).filter((each) => isAbsolute(each)),
    folder: own.path,
    async close() {
      try {
        const bytes = await readOwnFile(path, MAX_BYTES);
        if (isUtf8(bytes)) outputs?.take(linesOf(bytes.toString('utf8')));
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
