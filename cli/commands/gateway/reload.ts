/** `hookwright gateway reload`: compiles the configuration again, now, and says what came of it. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import { askGateway } from '../../gateway/ask-gateway.ts';
import { printJson, printNote } from '../../output/print.ts';

/** Ten thousand routes compile in seconds; in ms. */
const COMPILE_MS = 120_000;

export class GatewayReloadCommand extends Command<CliContext> {
  static override paths = [['gateway', 'reload']];
  static override usage = Command.Usage({
    description: 'Make the running gateway load its configuration again, now',
    details:
      '`gateway run` and `gateway start` do so by themselves when a file changes. A configuration with errors is reported, exits 1 and leaves the old one serving.',
    examples: [['After editing a file on a disk that cannot be watched', '$0 gateway reload']],
  });

  json = Option.Boolean('--json', false, { description: 'Print the report as JSON' });

  async execute(): Promise<number> {
    const report = await askGateway(this.context, 'reload', {}, COMPILE_MS);
    if (this.json) printJson(this.context, report);
    else if (report.diagnostics !== '') printNote(this.context, report.diagnostics.trimEnd());
    if (!report.ok) throw new CliError('the configuration has errors: the old one goes on serving');
    if (!this.json) printNote(this.context, report.changed ? 'reloaded' : 'nothing has changed');
    return 0;
  }
}
