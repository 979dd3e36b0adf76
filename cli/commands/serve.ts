/** `hookwright serve`: serves compiled tables and reloads them when they change; never compiles. */
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { Redactor } from '../../runtime/deliver/redact.ts';
import type { ProcessLogger } from '../../runtime/platform/logger.ts';
import type { CliContext } from '../base/context.ts';
import { loadPart } from '../base/module.ts';
import { hostOption, logFileOption, portOption } from '../command-line/options.ts';
import { builtFolder } from '../serve/built-folder.ts';
import { serveGateway } from '../serve/serve-gateway.ts';
import { createServerLog } from '../serve/server-log.ts';
import { requireDatabase } from '../store/use-shared-state.ts';

/** `--table` of a gateway that takes its table from the database. */
const FROM_STORE = 'store:';

export class ServeCommand extends Command<CliContext> {
  static override paths = [['serve']];
  static override usage = Command.Usage({
    description: 'Serve compiled tables; they are loaded again when they change',
    details:
      'For machines that get their tables from elsewhere. Without --table it takes build/ here, or in the home folder. Secrets are resolved before it listens: a missing one is a refusal. Ctrl-C drains, a second one does not wait.',
    examples: [
      ['Serve what `compile` wrote here', '$0 serve'],
      ['The table that `table activate` names', '$0 serve --table store:'],
      ['Tables deployed by CI, all addresses', '$0 serve --table /srv/hookwright/build --host 0.0.0.0'],
    ],
  });

  table = Option.String('--table', {
    description: '<dir|store:> Folder of routes.json; `store:` takes the active table of the database',
  });
  host = hostOption();
  port = portOption();
  logFile = logFileOption();

  async execute(): Promise<number> {
    const { context } = this;
    const redactor = new Redactor();
    const log = createServerLog(context, redactor.redact);
    if (this.table !== FROM_STORE) {
      return this.serve(
        this.table === undefined ? builtFolder(context) : resolve(context.cwd, this.table),
        log,
        redactor,
      );
    }
    const plan = await requireDatabase(context, undefined);
    const followed = await (await loadPart(context.modules, 'database')).followTable(context, plan, log);
    try {
      return await this.serve(followed.folder, log, redactor);
    } finally {
      await followed.stop();
    }
  }

  private serve(folder: string, log: ProcessLogger, redactor: Redactor): Promise<number> {
    const { host, port, logFile = null } = this;
    return serveGateway(this.context, { folder, host, port, logFile, log, redactor, recompile: null });
  }
}
