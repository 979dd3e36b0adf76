/** `hookwright gateway status`: whether a gateway serves this home, and how it is. */

import { alertTitle } from '../../../base/alert-kinds.ts';
import { createPaint } from '../../../base/paint.ts';
import { SHOWN_STATES } from '../../../runtime/store/states.ts';
import type { DispatchStatus, GatewayStatus, StoreStatus } from '../../../schemas/built/operations/types.ts';
import type { CliContext } from '../../base/context.ts';
import { loadPart } from '../../base/module.ts';
import { command, flag } from '../../command-line/command.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { describeDead, LIST_DEAD } from '../../deliveries/describe-dead.ts';
import { notRunning, tryAskGateway } from '../../gateway/ask-gateway.ts';
import { describePause } from '../../output/pause.ts';
import { printJson, printLine, terminalWidth, visible, wrapBeside } from '../../output/print.ts';
import { formatDuration } from '../../output/time.ts';

export default command({
  summary: 'Show whether a gateway serves this home, and what it serves',
  details:
    'Exits 1 when none is running. --all asks the store, on any node: it shows every gateway that shares it, how long its lease lasts, and the table it serves.',
  examples: [
    ['Look at the running gateway', '$0 gateway status'],
    ['For scripts', '$0 gateway status --json'],
    ['All gateways that share the database', '$0 gateway status --all'],
  ],
  options: { all: flag('Every gateway that shares the store'), config: configOption, json: jsonOption },
  async run(context, given) {
    if (given.all) return (await loadPart(context.modules, 'database')).showNodes(context, given.json);
    const status = await tryAskGateway(context, 'status', {});
    if (status === null) {
      if (!given.json) throw notRunning(context);
      printJson(context, { state: 'stopped' });
      return 1;
    }
    if (given.json) printJson(context, status);
    else for (const line of describe(status, context)) printLine(context, line);
    return 0;
  },
});

function describe(status: GatewayStatus, context: CliContext): string[] {
  const paint = createPaint(context.colour.stdout);
  const now = context.clock.now();
  const { table, subscriptions, runs, dispatches } = status;
  const state = paint(status.state === 'serving' ? 'green' : 'yellow', visible(status.state));
  const width = terminalWidth(context);
  const field = (name: string, text: string): string[] => wrapBeside(`  ${name.padEnd(14)} `, text, width);
  const problem = (reason: string | null): string[] =>
    reason === null ? [] : wrapBeside(`    ${paint('yellow', '!')} `, visible(reason), width);
  return [
    ...wrapBeside(
      '',
      `hookwright ${visible(status.version)} is ${state} on ${visible(status.url)} (pid ${status.pid}, up ${formatDuration(now - status.started_at)})`,
      width,
    ),
    ...field(
      'table',
      `${table.routes} ${table.routes === 1 ? 'route' : 'routes'}, generation ${table.generation}, loaded ${formatDuration(now - table.loaded_at)} ago, ${visible(table.hash.slice(0, 12))}`,
    ),
    ...problem(table.error),
    ...(status.console === null ? [] : field('console', visible(status.console))),
    ...(status.config === null ? [] : field('config', visible(status.config))),
    ...field('subscriptions', `${subscriptions.serving} serving, ${subscriptions.quarantined.length} quarantined`),
    ...problem(subscriptions.error),
    ...subscriptions.quarantined.flatMap(({ name, reason }) => problem(`${name}: ${reason}`)),
    ...(runs === null ? [] : field('runs', `${runs.active} active, ${runs.queued} queued`)),
    ...(dispatches === null ? [] : field('dispatches', describeStates(dispatches, now))),
    ...status.paused.flatMap(({ route, until }) =>
      problem(`route ${route} is ${describePause(true, until)}: nothing of it runs`),
    ),
    ...problem(describeGivenUp(dispatches, now)),
    ...problem(describeError(dispatches, now)),
    ...(status.alerts ?? []).flatMap(({ kind, subject, since, count }) =>
      problem(`${alertTitle(kind)}: ${subject} (${count} in ${formatDuration(now - since)})`),
    ),
    ...problem(describeStore(status.store, now)),
    ...status.store.refused.flatMap(problem),
    ...(status.log_file === null ? [] : field('log', visible(status.log_file))),
  ];
}

function describeStates({ states, oldest_open_at }: DispatchStatus, now: number): string {
  const counts = SHOWN_STATES.filter((state) => states[state] > 0).map((state) => `${states[state]} ${state}`);
  const oldest = oldest_open_at === null ? [] : [`oldest open for ${formatDuration(now - oldest_open_at)}`];
  return [...counts, ...oldest].join(', ') || 'none yet';
}

function describeGivenUp(dispatches: DispatchStatus | null, now: number): string | null {
  const dead = describeDead(dispatches?.dead ?? [], now);
  return dead === null ? null : `${dead} (${LIST_DEAD})`;
}

function describeError(dispatches: DispatchStatus | null, now: number): string | null {
  if (dispatches === null || dispatches.last_error === null) return null;
  const { id, route, at, reason } = dispatches.last_error;
  // Without a route it is of a job, or a message of the gateway itself.
  return [`last error ${formatDuration(now - at)} ago`, ...(route === null ? [] : [route]), `${id}: ${reason}`].join(
    ', ',
  );
}

/** Damage is shown until it is acknowledged, a problem as long as it lasts. */
function describeStore({ problem: refused, damage }: StoreStatus, now: number): string | null {
  if (refused?.kind === 'unreadable') return refused.message;
  if (refused !== null)
    return `the store takes no events since ${formatDuration(now - refused.since)}: ${refused.message}`;
  if (damage === null) return null;
  const copy = damage.copy === null ? '' : ` (kept as ${damage.copy})`;
  return `the store was damaged, found ${formatDuration(now - damage.at)} ago: ${damage.message}${copy}`;
}
