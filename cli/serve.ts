/** `hookwright serve`: serves compiled tables and reloads them when they change; never compiles. */
import { resolve } from 'node:path';
import { Redactor } from '../runtime/deliver/redact.ts';
import { command, text } from './command-line/command.ts';
import { hostOption, logFileOption, portOption } from './command-line/options.ts';
import { builtFolder } from './compile/compile-files.ts';
import { serveGateway } from './serve/serve-gateway.ts';
import { createServerLog } from './serve/server-log.ts';

export const serveCommand = command({
  options: {
    table: text('dir', 'Folder with routes.json'),
    host: hostOption,
    port: portOption,
    logFile: logFileOption,
  },
  async run(context, given) {
    const redactor = new Redactor();
    const log = createServerLog(context, redactor.redact, given.logFile);
    const { table, host, port, logFile = null } = given;
    const folder = table === undefined ? builtFolder(context) : resolve(context.cwd, table);
    return serveGateway(context, { folder, host, port, logFile, log, redactor, recompile: null, lastGood: null });
  },
});
