/** `hookwright gateway logs`: prints the end of the background gateway's log, and follows it. */
import { isSystemError } from '../../../base/system-error.ts';
import type { CliContext } from '../../base/context.ts';
import { CliError } from '../../base/errors.ts';
import { choice, command, flag, parsed, text, withDefault, withShort } from '../../command-line/command.ts';
import { routeFilterOption } from '../../command-line/options.ts';
import { parseInteger } from '../../command-line/values.ts';
import { parseSince } from '../../deliveries/filter.ts';
import { checkRouteName } from '../../deliveries/named-filter.ts';
import { readGatewayInfo } from '../../gateway/ask-gateway.ts';
import type { Tail } from '../../gateway/log.ts';
import { createLogView, logFile, readSince, readTail } from '../../gateway/log.ts';
import { LEVELS, logFilter } from '../../gateway/log-filter.ts';
import { noteOtherProject } from '../../gateway/other-project.ts';

/** How often a followed log is polled, in ms. */
const FOLLOW_MS = 200;

export default command({
  summary: 'Show the log of the gateway in the background, -f to follow it',
  details:
    'On a terminal: date and time, level, route, event, delivery id, what happened, and the rest. In a pipe the JSON lines are as the gateway wrote them. A gateway in the foreground (`gateway run`, `serve`) logs to its own terminal.',
  examples: [
    ['The last lines, and then each new one', '$0 gateway logs -f'],
    ['The last 500 lines', '$0 gateway logs -n 500'],
    ['What went wrong on one route since yesterday', '$0 gateway logs --route review --level warn --since 24h'],
    ['What was refused, with jq', `$0 gateway logs -n 500 | jq 'select(.outcome == "invalid_signature")'`],
  ],
  options: {
    route: routeFilterOption,
    level: choice(LEVELS, 'Only this level and those above'),
    since: text('time', 'Only since: 30min, 12h, 7d, or a date'),
    follow: withShort('-f', flag('Print new lines as they are added, until Ctrl-C')),
    lines: withShort(
      '-n',
      withDefault(
        '50',
        parsed('count', 'How many lines from the end', (text, option) =>
          parseInteger(text, option, { min: 0, max: 1_000_000 }),
        ),
      ),
    ),
  },
  async run(context, given) {
    const path = logFile(context.home);
    noteOtherProject(context, readGatewayInfo(context)?.config ?? null);
    const chosen = logFilter({
      ...{ route: given.route ?? null, level: given.level ?? null },
      since: given.since === undefined ? null : parseSince(given.since, context.clock.now()),
    });
    // Of a part of the log, the last so many of those that are chosen.
    const tail = read(path, chosen === null ? given.lines : Number.MAX_SAFE_INTEGER);
    const last = chosen === null ? tail.bytes : chosen(tail.bytes, given.lines);
    if (given.route !== undefined && last.length === 0) checkRouteName(context, given.route, []);
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
    throw new CliError(
      `there is no log yet: ${path}`,
      'a gateway writes it when started with: hookwright gateway start',
    );
  }
}

interface Shown {
  readonly show: (bytes: Buffer) => void;
  readonly showTail: () => void;
}

function followFrom(context: CliContext, path: string, tail: Tail, { show, showTail }: Shown): Promise<void> {
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
    // Before the first output, after which the user may press Ctrl-C.
    const unlisten = context.onSignal(() => stop(resolve));
    const stop = (then: () => void): void => {
      clearInterval(timer);
      unlisten();
      then();
    };
    showTail();
  });
}
