/** `hookwright alerts test`: sends a test message to the alert targets and waits for the result. */
import { targetLabel } from '../../../base/text.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import { command } from '../../../cli/command-line/command.ts';
import { jsonOption } from '../../../cli/command-line/options.ts';
import { callGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, visible } from '../../../cli/output/print.ts';
import { findDispatch, useStore } from '../../../cli/store/use-store.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';

/** How long to wait for the targets, and the polling interval, in ms. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 100;

export const alertsTestCommand = command({
  options: { json: jsonOption },
  async run(context, given) {
    const { dispatch: id } = await callGateway(context, 'alerts_test', {});
    if (id === null)
      throw new CliError(
        'the served configuration has no target for alerts',
        'set gateway.alerts.deliver',
        'hookwright docs observability',
      );
    // The clock's timers do not keep the process running.
    const alive = setInterval(() => {}, PATIENCE_MS);
    const results = resultsOf(await outcome(context, id).finally(() => clearInterval(alive)));
    const isSent = results.every(({ ok }) => ok);
    if (given.json) printJson(context, { dispatch: id, results });
    else
      for (const { target, ok, reason } of results)
        printLine(context, ok ? `${target}: sent` : `${target}: not sent: ${visible(reason ?? 'no response')}`);
    if (!isSent && !given.json) printLine(context, `hookwright deliveries show ${id}`);
    return isSent ? 0 : 1;
  },
});

/** Resolves with the message when all its deliveries have ended, or after the timeout. */
async function outcome(context: CliContext, id: string): Promise<StoredDispatch> {
  const { clock } = context;
  const until = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const message = await useStore(context, (store) => findDispatch(store, id));
    const isOver = message?.finished_at != null || clock.monotonic() >= until;
    if (message !== null && (isOver || resultsOf(message).every(({ ok }) => ok !== null))) return message;
    await new Promise((resolve) => void clock.after(LOOK_MS, () => resolve(null)));
  }
}

/** @returns one result per target; `ok` is null until an attempt has ended */
function resultsOf({ dispatch, steps }: StoredDispatch) {
  return dispatch.deliveries.map((delivery, index) => {
    const last = steps.findLast((step) => step.kind === 'delivery' && step.index === index);
    return { target: targetLabel(delivery), ok: last ? last.outcome === 'ok' : null, reason: last?.reason ?? null };
  });
}
