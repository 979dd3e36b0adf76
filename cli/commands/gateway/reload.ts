/** `hookwright gateway reload`: compiles the configuration again, now, and reports the result. */
import { Command, Option } from 'clipanion';
import type { RefusedSwap } from '../../../runtime/control/operations.ts';
import type { CliContext } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import { failOnOption } from '../../command-line/options.ts';
import { askGateway } from '../../gateway/ask-gateway.ts';
import { printJson, printNote, visible } from '../../output/print.ts';
import { refusalText } from '../../serve/refusal-text.ts';

/** Ten thousand routes compile in seconds; in ms. */
const COMPILE_MS = 120_000;

export class GatewayReloadCommand extends Command<CliContext> {
  static override paths = [['gateway', 'reload']];
  static override usage = Command.Usage({
    description: 'Make the running gateway load its configuration again, now',
    details:
      '`gateway run` and `gateway start` do so by themselves when a file changes. A configuration with errors is reported, exits 1 and leaves the old one serving.',
    examples: [
      ['After editing a file on a disk that cannot be watched', '$0 gateway reload'],
      ['Only if no event that was taken of late would be lost', '$0 gateway reload --fail-on lost'],
      ['In spite of the gate that the gateway was started with', '$0 gateway reload --fail-on none'],
    ],
  });

  json = Option.Boolean('--json', false, { description: 'Print the report as JSON' });

  failOn = failOnOption('Keep the old table when kept requests would be lost, or treated otherwise; none: replace it');

  async execute(): Promise<number> {
    const input = this.failOn === undefined ? {} : { fail_on: this.failOn };
    const report = await askGateway(this.context, 'reload', input, COMPILE_MS);
    if (this.json) printJson(this.context, report);
    else if (report.diagnostics !== '') printNote(this.context, report.diagnostics.trimEnd());
    if (report.refused !== null) throw this.refusal(report.refused);
    if (!report.ok) throw new CliError('the configuration has errors: the old one goes on serving');
    if (report.taken_ungated_at !== null) throw tooLate(report.taken_ungated_at);
    if (!this.json) printNote(this.context, report.changed ? 'reloaded' : 'nothing has changed');
    return 0;
  }

  private refusal(refused: RefusedSwap): CliError {
    for (const { id, route, kind, text } of this.json ? [] : refused.requests) {
      printNote(this.context, visible(`${kind} ${id} ${route}: ${text}`));
    }
    return new CliError(
      refusalText(refused),
      'hookwright diff --requests 1000 shows them',
      'to replace it all the same: --fail-on none',
    );
  }
}

function tooLate(at: number): CliError {
  return new CliError(
    `the configuration was taken in at ${new Date(at).toISOString()}, before this command and without a gate`,
    'a gateway takes in changed files by itself: start it with --fail-on to have each of them looked at',
    'hookwright diff OLD NEW --requests 1000 compares two configurations',
  );
}
