/** `hookwright gateway reload`: compiles the configuration again, now, and reports the result. */
import type { RefusedSwap } from '../../../schemas/built/operations/types.ts';
import type { CliContext } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import type { GivenBy } from '../../command-line/command.ts';
import { command, flag } from '../../command-line/command.ts';
import { failOnOption } from '../../command-line/options.ts';
import { askGateway } from '../../gateway/ask-gateway.ts';
import { printJson, printNote, visible } from '../../output/print.ts';
import { formatDuration } from '../../output/time.ts';
import { refusalText } from '../../serve/refusal-text.ts';

/** Ten thousand routes compile in seconds; in ms. */
const COMPILE_MS = 120_000;

const options = {
  json: flag('Print the report as JSON'),
  failOn: failOnOption('Keep the old table when kept requests would be lost, or treated otherwise; none: replace it'),
};

type Given = GivenBy<typeof options>;

export default command({
  summary: 'Make the running gateway load its configuration again, now',
  details:
    '`gateway run` and `gateway start` do so by themselves when a file changes. A configuration with errors is reported, exits 1 and leaves the old one serving.',
  examples: [
    ['After editing a file on a disk that cannot be watched', '$0 gateway reload'],
    ['Only if no event that was taken of late would be lost', '$0 gateway reload --fail-on lost'],
    ['In spite of the gate that the gateway was started with', '$0 gateway reload --fail-on none'],
  ],
  options,
  async run(context, given) {
    const input = given.failOn === undefined ? {} : { fail_on: given.failOn };
    const report = await askGateway(context, 'reload', input, COMPILE_MS);
    if (given.json) printJson(context, report);
    else if (report.diagnostics !== '') printNote(context, report.diagnostics.trimEnd());
    if (report.refused !== null) throw refusal(context, given, report.refused);
    if (!report.ok) throw new CliError('the configuration has errors: the old one goes on serving');
    if (report.taken_ungated_at !== null) throw tooLate(report.taken_ungated_at);
    if (!given.json) printNote(context, report.changed ? 'reloaded' : unchanged(context, report.was_loaded_at));
  },
});

function refusal(context: CliContext, given: Given, refused: RefusedSwap): CliError {
  for (const { id, route, kind, text } of given.json ? [] : refused.requests) {
    printNote(context, visible(`${kind} ${id} ${route}: ${text}`));
  }
  return new CliError(
    refusalText(refused),
    'hookwright diff --requests 1000 shows them',
    'to replace it all the same: --fail-on none',
  );
}

/** A gateway takes in a file that is saved by itself, as a rule before this command asks for it. */
function unchanged({ clock }: CliContext, loadedAt: number): string {
  const ago = formatDuration(clock.now() - loadedAt);
  return `nothing has changed since it was loaded at ${new Date(loadedAt).toISOString()}, ${ago} ago`;
}

function tooLate(at: number): CliError {
  return new CliError(
    `the configuration was taken in at ${new Date(at).toISOString()}, before this command and without a gate`,
    'a gateway takes in changed files by itself: start it with --fail-on to have each of them looked at',
    'hookwright diff OLD NEW --requests 1000 compares two configurations',
  );
}
