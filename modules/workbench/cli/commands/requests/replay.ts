/** `hookwright requests replay <id>`: sends a kept request through the running gateway again. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../../../../cli/base/context.ts';
import { askGateway } from '../../../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, printNote, visible } from '../../../../../cli/output/print.ts';
import type { ReplayReport } from '../../../../../runtime/control/operations.ts';
import { findRequest, useRequests } from '../../use-requests.ts';

/** Timeout in ms: the script may use all of its time, and the target too. */
const ANSWER_MS = 120_000;

export class RequestsReplayCommand extends Command<CliContext> {
  static override paths = [['requests', 'replay']];
  static override usage = Command.Usage({
    description: 'Send a kept request through the running gateway again',
    details:
      'It is a new event with a delivery id of its own, on the configuration as it is now: scripts, agents and targets run. Its signature was checked when it came; one without a valid signature is not sent again. Exits 1 when the answer is no 2xx.',
    examples: [['Once more', '$0 requests replay 1bkq0c5f2g']],
  });

  id = Option.String({ name: 'id' });
  json = Option.Boolean('--json', false, { description: 'Print the answer as an object' });

  async execute(): Promise<number> {
    const { id } = await useRequests(this.context, (requests) => findRequest(requests, this.id));
    const report = await askGateway(this.context, 'requests_replay', { id }, ANSWER_MS);
    if (this.json) printJson(this.context, { ...report, replay_of: id });
    else this.print(report);
    return report.status < 300 ? 0 : 1;
  }

  private print({ id, status, answer }: ReplayReport): void {
    printLine(this.context, `${status} ${visible(answer)}`);
    if (id !== null) printNote(this.context, `kept as ${id}: hookwright requests show ${id}`);
  }
}
