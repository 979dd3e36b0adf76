/** `hookwright alerts test`: sends a message that says it is a test to where alerts go, and waits for what becomes of it. */
import { targetLabel } from '../../../base/text.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import { command } from '../../../cli/command-line/command.ts';
import { jsonOption } from '../../../cli/command-line/options.ts';
import { askGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, visible } from '../../../cli/output/print.ts';
import { findDispatch, useStore } from '../../../cli/store/use-store.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';

/** How long it waits for the targets, and how often it looks, in ms. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 100;

export const alertsTestCommand = command({
  options: { json: jsonOption },
  async run(context, given) {
    const { dispatch: id } = await askGateway(context, 'alerts_test', {});
    if (id === null)
      throw new CliError(
        'the configuration that the gateway serves says not where alerts go',
        'name a target: gateway.alerts.deliver',
        'hookwright docs operations',
      );
    // The clock's timers keep no process running.
    const alive = setInterval(() => {}, PATIENCE_MS);
    const results = resultsOf(await outcome(context, id).finally(() => clearInterval(alive)));
    const isSent = results.every(({ ok }) => ok);
    if (given.json) printJson(context, { dispatch: id, results });
    else
      for (const { target, ok, reason } of results)
        printLine(context, ok ? `${target}: sent` : `${target}: not sent: ${visible(reason ?? 'it has not answered')}`);
    if (!isSent && !given.json) printLine(context, `hookwright deliveries show ${id}`);
    return isSent ? 0 : 1;
  },
});

/** The message when all deliveries have ended, or as it is by then. */
async function outcome(context: CliContext, id: string): Promise<StoredDispatch> {
  const { clock } = context;
  const until = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const found = await useStore(context, (store) => findDispatch(store, id));
    const isOver = found?.finished_at != null || clock.monotonic() >= until;
    if (found !== null && (isOver || resultsOf(found).every(({ ok }) => ok !== null))) return found;
    await new Promise((resolve) => void clock.after(LOOK_MS, () => resolve(null)));
  }
}

/** @returns `ok` null: no attempt has ended */
function resultsOf({ dispatch, steps }: StoredDispatch) {
  return dispatch.deliveries.map((delivery, index) => {
    const last = steps.findLast((step) => step.kind === 'delivery' && step.index === index);
    return { target: targetLabel(delivery), ok: last ? last.outcome === 'ok' : null, reason: last?.reason ?? null };
  });
}
