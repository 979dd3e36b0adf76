/** `hookwright serve`: serves compiled tables and reloads them when they change; never compiles. */
import { resolve } from 'node:path';
import { Redactor } from '../runtime/deliver/redact/redact.ts';
import { loadPart } from './base/module.ts';
import { command, text } from './command-line/command.ts';
import { hostOption, logFileOption, portOption } from './command-line/options.ts';
import { builtFolder } from './serve/built-folder.ts';
import { serveGateway } from './serve/serve-gateway.ts';
import { createServerLog } from './serve/server-log.ts';
import { requireDatabase } from './store/use-store.ts';

/** `--table` of a gateway that takes its table from the database. */
const FROM_STORE = 'store:';

export const serveCommand = command({
  summary: 'Serve compiled tables; they are loaded again when they change',
  details:
    'For machines that get their tables from elsewhere. Without --table it takes build/ here, or in the home folder. Secrets are resolved before it listens: a missing one is a refusal. Ctrl-C drains, a second one does not wait.',
  examples: [
    ['Serve what `compile` wrote here', '$0 serve'],
    ['The table that `table activate` names', '$0 serve --table store:'],
    ['Tables deployed by CI, all addresses', '$0 serve --table /srv/hookwright/build --host 0.0.0.0'],
  ],
  options: {
    table: text('dir|store:', 'Folder of routes.json; `store:` takes the active table of the database'),
    host: hostOption,
    port: portOption,
    logFile: logFileOption,
  },
  async run(context, given) {
    const redactor = new Redactor();
    const log = createServerLog(context, redactor.redact);
    const { table, host, port, logFile = null } = given;
    const serve = (folder: string, problem: () => string | null = () => null): Promise<number> =>
      serveGateway(context, { folder, host, port, logFile, log, redactor, recompile: null, problem });
    if (table !== FROM_STORE) return serve(table === undefined ? builtFolder(context) : resolve(context.cwd, table));
    const plan = await requireDatabase(context, undefined);
    const followed = await (await loadPart(context.modules, 'database')).followTable(context, plan, log);
    try {
      return await serve(followed.folder, followed.problem);
    } finally {
      await followed.stop();
    }
  },
});
