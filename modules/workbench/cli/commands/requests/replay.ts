/** `hookwright requests replay <id>`: sends a kept request through the running gateway again. */

import type { CliContext } from '../../../../../cli/base/context.ts';
import { argument, command, flag } from '../../../../../cli/command-line/command.ts';
import { askGateway } from '../../../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, printNote, visible } from '../../../../../cli/output/print.ts';
import type { ReplayReport } from '../../../../../schemas/built/operations/types.ts';
import { BODY_MARKER } from '../../../runtime/removed.ts';
import { lacksCredential } from '../../requests/print-request.ts';
import { findRequest, useRequests } from '../../use-requests.ts';

/** Timeout in ms: the script may use all of its time, and the target too. */
const ANSWER_MS = 120_000;

export default command({
  summary: 'Send a kept request through the running gateway again',
  details:
    'It is a new event with a delivery id of its own, on the configuration as it is now: scripts, agents and targets run. Its signature was checked when it came; one without a valid signature is not sent again. Credentials in the body are not kept: a marker stands in their place. Exits 1 when the answer is no 2xx.',
  examples: [['Once more', '$0 requests replay 1bkq0c5f2g']],
  options: { json: flag('Print the answer as an object') },
  args: { id: argument('id') },
  async run(context, given) {
    const { id, body } = await useRequests(context, (requests) => findRequest(requests, given.id));
    const report = await askGateway(context, 'requests_replay', { id }, ANSWER_MS);
    if (given.json) printJson(context, { ...report, replay_of: id });
    else print(context, report);
    if (lacksCredential(body)) printNote(context, `its body lacks credentials: "${BODY_MARKER}" stands in their place`);
    return report.status < 300 ? 0 : 1;
  },
});

function print(context: CliContext, { id, status, answer }: ReplayReport): void {
  printLine(context, `${status} ${visible(answer)}`);
  if (id !== null) printNote(context, `kept as ${id}: hookwright requests show ${id}`);
}
