#!/usr/bin/env node
/**
 * The `hookwright` program. Conventions for everyone who writes a command:
 *
 * - One command a file, `cli/commands/<noun>/<verb>.ts`, exporting one clipanion class (`Command<CliContext>`) with `paths`,
 *   `usage` (description without a full stop, examples as [what it does, '$0 ...']) and `execute`. Its line in
 *   `cli/commands/<noun>/commands.ts` (same path, same summary) makes it exist; the file is loaded only when the command runs,
 *   so it may import whatever it needs.
 * - Every option has a description; it opens with the name of its value: `Option.String('--out', { description: '<dir> Where to write' })`.
 *   Values may start with `-`. Long names are lower-case words joined by `-`. What is no text has a
 *   `validator` (`parsedBy` of `cli/command-line/values.ts`); what several commands have is in `cli/command-line/options.ts`.
 * - Everything of the outside world comes from `this.context` (cli/base/context.ts): streams, env, cwd, home, clock, fetch.
 *   `openHome(context)` creates the home; commands that only read leave it alone.
 * - Results go to stdout (`printLine`, `printJson`, `printTable`), everything else to stderr (`printNote`, `createProgress`).
 *   Whatever lists has `--json`: an array of objects, printed with `printJson`. Text from users or senders passes `visible()`.
 *   Colours only through `createPaint(context.colour.stdout)`, prompts only when stdin and stderr are TTYs.
 * - `execute` returns the exit code: 0 fine, 1 refused or failed, 2 wrong usage. To fail, throw: `CliError(message, ...what to type next)`
 *   exits 1, `UsageError(...)` exits 2; both print without a stack. Any other error is reported as a bug, with its stack.
 * - Tests drive a command with `runInProcess` (fast) or `runProcess` (real pipes and signals) of test/helpers/cli.ts.
 */
import { createContext } from '../cli/base/context.ts';
import { runCli } from '../cli/run.ts';
import { MODULES } from './modules.ts';

// A reader that has seen enough (`| head`) closes the pipe: that ends the program quietly, as it would a C program.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? 0);
});
// The messages have no reader any more; the work itself continues.
process.stderr.on('error', () => {});

process.exitCode = await runCli(
  process.argv.slice(2),
  createContext(process, { modules: MODULES, recompileThread: new URL('./recompile-thread.js', import.meta.url) }),
);
