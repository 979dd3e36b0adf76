/** `hookwright gateway status`, `logs` and `metrics`: the state of the running gateway. */

import { isSystemError } from '../base/errors.ts';
import { alertTitle } from '../base/names.ts';
import { createPaint } from '../base/paint.ts';
import { parseLogEntry } from '../runtime/platform/logger.ts';
import { SHOWN_STATES } from '../runtime/store/states.ts';
import type { DispatchStatus, GatewayStatus, StoreStatus } from '../schemas/built/operations/types.ts';
import type { CliContext } from './base/context.ts';
import { CliError } from './base/errors.ts';
import { loadPart } from './base/module.ts';
import { choice, command, flag, parsed, text, withDefault, withShort } from './command-line/command.ts';
import { configOption, jsonOption, routeFilterOption } from './command-line/options.ts';
import { parseInteger } from './command-line/values.ts';
import { describeDead, LIST_DEAD, parseSince } from './deliveries/filter.ts';
import { callGateway, noteOtherProject, notRunning, readGatewayInfo, tryCallGateway } from './gateway/ask-gateway.ts';
import { printJson, printLine, terminalWidth, visible, wrapBeside } from './output/print.ts';
import { describePause, formatDuration } from './output/table.ts';
import type { Tail } from './serve/server-log.ts';
import { createLineReader, createLogView, LEVELS, logFile, readSince, readTail } from './serve/server-log.ts';

/** `hookwright gateway status`: whether a gateway serves this home, and its state. */
export const gatewayStatusCommand = command({
  options: { all: flag('All gateways that share the store'), config: configOption, json: jsonOption },
  async run(context, given) {
    if (given.all) return (await loadPart(context.modules, 'database')).showNodes(context, given.json);
    const status = await tryCallGateway(context, 'status', {});
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
    ...status.paused.flatMap(({ route, until, by }) =>
      problem(`route ${route} is ${describePause(true, until, by)}: its events wait`),
    ),
    ...(status.rate_limited ?? []).flatMap(problem),
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
  const oldest = oldest_open_at === null ? [] : [`oldest pending for ${formatDuration(now - oldest_open_at)}`];
  return [...counts, ...oldest].join(', ') || 'none yet';
}

function describeGivenUp(dispatches: DispatchStatus | null, now: number): string | null {
  const dead = describeDead(dispatches?.dead ?? [], now);
  return dead === null ? null : `${dead} (${LIST_DEAD})`;
}

function describeError(dispatches: DispatchStatus | null, now: number): string | null {
  if (dispatches === null || dispatches.last_error === null) return null;
  const { id, route, at, reason } = dispatches.last_error;
  // Without a route it belongs to a job, or is a message of the gateway itself.
  return [`last error ${formatDuration(now - at)} ago`, ...(route === null ? [] : [route]), `${id}: ${reason}`].join(
    ', ',
  );
}

/** Damage is shown until it is acknowledged, a problem while it lasts. */
function describeStore({ problem: refused, damage }: StoreStatus, now: number): string | null {
  if (refused?.kind === 'unreadable') return refused.message;
  if (refused !== null)
    return `the store has rejected events for ${formatDuration(now - refused.since)}: ${refused.message}`;
  if (damage === null) return null;
  const copy = damage.copy === null ? '' : ` (copy: ${damage.copy})`;
  return `damage of the store was found ${formatDuration(now - damage.at)} ago: ${damage.message}${copy}`;
}

export interface LogConditions {
  readonly route: string | null;
  /** The least severe level. */
  readonly level: (typeof LEVELS)[number] | null;
  /** Unix ms. */
  readonly since: number | null;
}

/** Filters bytes, which may end within a line. @param most the most lines to return, from the end */
export type ChooseLines = (bytes: Buffer, most?: number) => Buffer;

/** Null without a condition, so that every line is printed. A filter drops lines that are not entries, such as stack traces. */
export function logFilter({ route, level, since }: LogConditions): ChooseLines | null {
  if (route === null && level === null && since === null) return null;
  const least = level === null ? 0 : LEVELS.indexOf(level);
  const linesOf = createLineReader();
  const holds = (line: string): boolean => {
    const entry = parseLogEntry(line);
    if (entry === null || (route !== null && entry.route !== route)) return false;
    const isSince = since === null || Date.parse(String(entry.time)) >= since;
    return isSince && (LEVELS as readonly unknown[]).indexOf(entry.level) >= least;
  };
  return (bytes, most = Number.POSITIVE_INFINITY) => {
    const lines = linesOf(bytes).filter(holds);
    const last = lines.slice(Math.max(0, lines.length - most));
    return Buffer.from(last.map((line) => `${line}\n`).join(''));
  };
}

/** How often a followed log is polled, in ms. */
const FOLLOW_MS = 200;

/** `hookwright gateway logs`: prints the end of the background gateway's log, and follows it. */
export const gatewayLogsCommand = command({
  options: {
    route: routeFilterOption,
    level: choice(LEVELS, 'Only lines of this level or a more severe one'),
    since: text('time', 'Only lines since: 30min, 12h, 7d, or a date'),
    follow: withShort('-f', flag('Print new lines until Ctrl-C')),
    lines: withShort(
      '-n',
      withDefault(
        '50',
        parsed('count', 'Number of lines (default 50)', (text, option) =>
          parseInteger(text, option, { min: 0, max: 1_000_000 }),
        ),
      ),
    ),
  },
  async run(context, given) {
    const path = logFile(context.home);
    noteOtherProject(context, readGatewayInfo(context)?.config ?? null);
    const chosen = logFilter({
      route: given.route ?? null,
      level: given.level ?? null,
      since: given.since === undefined ? null : parseSince(given.since, context.clock.now()),
    });
    // With a filter, the whole log is read, and the last matching lines are printed.
    const tail = read(path, chosen === null ? given.lines : Number.MAX_SAFE_INTEGER);
    const last = chosen === null ? tail.bytes : chosen(tail.bytes, given.lines);
    if (given.route !== undefined && last.length === 0) {
      const { checkRouteName } = await import('./deliveries/named-filter.ts');
      checkRouteName(context, given.route, []);
    }
    const view = createLogView(context);
    const print = (bytes: Buffer): void => void context.stdout.write(view(bytes));
    const show = (bytes: Buffer): void => print(chosen === null ? bytes : chosen(bytes));
    if (given.follow) await followFrom(context, path, tail, { show, showTail: () => print(last) });
    else print(last);
  },
});

function read(path: string, lines: number): Tail {
  try {
    return readTail(path, lines);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
    throw new CliError(`there is no log yet: ${path}`, 'only a background gateway writes it: hookwright gateway start');
  }
}

interface LogOutput {
  readonly show: (bytes: Buffer) => void;
  readonly showTail: () => void;
}

function followFrom(context: CliContext, path: string, tail: Tail, { show, showTail }: LogOutput): Promise<void> {
  return new Promise((resolve, reject) => {
    let { position } = tail;
    const timer = setInterval(() => {
      try {
        const next = readSince(path, position);
        position = next.position;
        if (next.bytes.length > 0) show(next.bytes);
      } catch (error) {
        stop(() => reject(error));
      }
    }, FOLLOW_MS);
    // Before the first output, because the user may then press Ctrl-C.
    const unlisten = context.onSignal(() => stop(resolve));
    const stop = (then: () => void): void => {
      clearInterval(timer);
      unlisten();
      then();
    };
    showTail();
  });
}

/** `hookwright gateway metrics`: the running gateway's counters as Prometheus text. */
export const gatewayMetricsCommand = command({
  async run(context) {
    const { text } = await callGateway(context, 'metrics', {});
    context.stdout.write(text);
  },
});
