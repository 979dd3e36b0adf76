/** `hookwright serve`: serves compiled tables; loads them again when they change, and compiles nothing. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { Redactor } from '../../runtime/deliver/redact.ts';
import type { CliContext } from '../base/context.ts';
import { hostOption, logFileOption, portOption } from '../command-line/options.ts';
import { serveGateway } from '../serve/serve-gateway.ts';
import { createServerLog } from '../serve/server-log.ts';

export class ServeCommand extends Command<CliContext> {
  static override paths = [['serve']];
  static override usage = Command.Usage({
    description: 'Serve compiled tables; they are loaded again when they change',
    details:
      'For machines that get their tables from elsewhere. Without --table it takes build/ here, or in the home folder. Secrets are resolved before it listens: a missing one is a refusal. Ctrl-C drains, a second one does not wait.',
    examples: [
      ['Serve what `compile` wrote here', '$0 serve'],
      ['Tables deployed by CI, all addresses', '$0 serve --table /srv/hookwright/build --host 0.0.0.0'],
    ],
  });

  table = Option.String('--table', { description: '<dir> Folder of routes.json' });
  host = hostOption();
  port = portOption();
  logFile = logFileOption();

  async execute(): Promise<number> {
    const redactor = new Redactor();
    return serveGateway(this.context, {
      folder: this.folder(),
      host: this.host,
      port: this.port,
      logFile: this.logFile ?? null,
      log: createServerLog(this.context, redactor.redact),
      redactor,
      recompile: null,
    });
  }

  /** Where `compile` puts them: beside ./hookwright.yaml, else beside the configuration of the home. */
  private folder(): string {
    const { cwd, home } = this.context;
    if (this.table !== undefined) return resolve(cwd, this.table);
    const here = join(cwd, 'build', 'routes.json');
    return dirname(existsSync(here) ? here : join(home, 'build', 'routes.json'));
  }
}
