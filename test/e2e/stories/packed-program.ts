/** Runs steps of stories with the packed program, as a process or within this one, which is ten times faster. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The folder, home and variables of a command. */
export interface CommandEnvironment {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The argument vector that starts a packed program. @param path of its entry file */
export const programArgv = (path: string): readonly [string, ...string[]] => [process.execPath, path];

export function startProgram(
  path: string,
  words: readonly string[],
  place: CommandEnvironment,
): ChildProcessWithoutNullStreams {
  const [node, ...args] = programArgv(path);
  return spawn(node, [...args, ...words], place);
}

/** The output of a command in this process, and the screen of a terminal. */
export interface OutputHere extends Output {
  readonly shown: string;
}

class Recorder extends Writable {
  text = '';
  private readonly screen: string[];

  constructor(screen: string[]) {
    super();
    this.screen = screen;
  }

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    this.screen.push(chunk.toString());
    done();
  }
}

/**
 * Runs one command line with the modules of the packed program, as its entry file does, in a context like that of a
 * process without terminal, input and signals.
 */
export async function runHere(
  path: string,
  words: readonly string[],
  { cwd, env }: CommandEnvironment,
): Promise<OutputHere> {
  const load = (module: string): Promise<unknown> => import(pathToFileURL(join(dirname(path), module)).href);
  const { runCli } = (await load('run.js')) as typeof import('../../../cli/run.ts');
  const { createContext } = (await load('context.js')) as typeof import('../../../cli/base/context.ts');
  const { MODULES: modules } = (await load('modules.js')) as typeof import('../../../main/modules.ts');
  const composition = { modules, recompileThread: pathToFileURL(join(dirname(path), 'recompile-thread.js')) };
  const screen: string[] = [];
  const [stdout, stderr] = [new Recorder(screen), new Recorder(screen)];
  const likeProcess = {
    env,
    cwd: () => cwd,
    stdin: Readable.from([]),
    stdout,
    stderr,
    execPath: process.execPath,
    execArgv: [],
    argv: [...programArgv(path), ...words],
    pid: process.pid,
    exit: (code: number) => {
      throw new Error(`${words.join(' ')} ended with ${code}, and needs its own process`);
    },
    on: () => {},
    off: () => {},
  };
  const context = {
    ...createContext(likeProcess as unknown as NodeJS.Process, composition),
    timezone: env.TZ ?? 'UTC',
  };
  const code = await runCli(words, context);
  return { code, stdout: stdout.text, stderr: stderr.text, shown: screen.join('') };
}
