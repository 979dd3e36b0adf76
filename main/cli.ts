#!/usr/bin/env node
/** The `hookwright` program. Commands are in cli/, which starts at cli/command-line/command.ts. */
import { createContext } from '../cli/base/context.ts';
import { runCli } from '../cli/run.ts';
import { MODULES } from './modules.ts';

// A reader that closes the pipe early (`| head`) ends the program quietly, as it would a C program.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? 0);
});
// Nothing reads the messages any more; the work itself continues.
process.stderr.on('error', () => {});

process.exitCode = await runCli(
  process.argv.slice(2),
  createContext(process, { modules: MODULES, recompileThread: new URL('./recompile-thread.js', import.meta.url) }),
);
