/** `hookwright requests list`: what came in, newest first, and how it was answered. */
import type { CliContext } from '../../../../../cli/base/context.ts';
import type { GivenBy } from '../../../../../cli/command-line/command.ts';
import { command, flag, text, withDefault, withShort } from '../../../../../cli/command-line/command.ts';
import { routeFilterOption } from '../../../../../cli/command-line/options.ts';
import { checkRouteName, SEARCHED } from '../../../../../cli/deliveries/named-filter.ts';
import { printJson, printLine, printNote, terminalWidth } from '../../../../../cli/output/print.ts';
import type { Column } from '../../../../../cli/output/table.ts';
import { formatTable, printTable } from '../../../../../cli/output/table.ts';
import { formatDuration } from '../../../../../cli/output/time.ts';
import type { KeptSummary } from '../../../../../runtime/intake/kept-request.ts';
import { firstNumber, idOf } from '../../../runtime/capture/requests.ts';
import { parsePage, parseRequestFilter } from '../../requests/filter.ts';
import { followRequests } from '../../requests/follow.ts';
import { outcomeText } from '../../texts.ts';
import { useRequests } from '../../use-requests.ts';

const options = {
  route: routeFilterOption,
  outcome: text('name', 'Only this outcome'),
  reason: text('name', 'Only this reason'),
  since: text('time', 'Only since: 90s, 15m, 2h, 3d, or a date'),
  grep: text('text', 'Only with this text in path, headers, event, id or body'),
  limit: withDefault('50', text('count', 'At most this many (default 50)')),
  before: text('id', 'Only older ones than this: the next page'),
  follow: withShort('-f', flag('Print new ones as they arrive, until Ctrl-C')),
  json: flag('Print an array of objects; with --follow one a line'),
};

type Given = GivenBy<typeof options>;

export default command({
  summary: 'List the requests that were kept, newest first',
  details:
    'Which requests are kept, and for how long: `capture` of a route and of `gateway`. Credentials are never kept. An outcome is the `status` of the answer (accepted, ignored, …) or the `code` of its error (invalid_signature, …).',
  examples: [
    ['The newest 50', '$0 requests list'],
    ['What was refused or ignored on a route', '$0 requests list --route review --outcome ignored'],
    ['Those that speak of a branch', '$0 requests list --grep refs/heads/main --since 2h'],
    ['As they come', '$0 requests list --follow'],
  ],
  options,
  async run(context, given) {
    const now = context.clock.now();
    const filter = parseRequestFilter(given, now);
    const page = parsePage(given.limit, given.before);
    await useRequests(context, async (requests) => {
      const rows = await requests.list(filter, page);
      if (rows.length === 0 && given.route !== undefined) {
        const kept = await requests.list({}, { limit: SEARCHED });
        const stored = kept.map(({ route }) => route);
        checkRouteName(context, given.route, stored);
      }
      if (given.follow) {
        const after = rows[0]?.id ?? idOf(firstNumber(now));
        printNew(context, given, [...rows].reverse(), true);
        await followRequests(context, requests, {
          filter,
          after,
          print: (more) => printNew(context, given, more, false),
        });
      } else print(context, given, rows, page.limit, now);
    });
  },
});

function print(context: CliContext, given: Given, rows: readonly KeptSummary[], limit: number, now: number): void {
  if (given.json) printJson(context, rows);
  else {
    const age = (at: number): string => formatDuration(now - at);
    printTable(context, rows, columns('AGE', age), 'no request of that kind is kept');
    const last = rows.at(-1);
    if (rows.length === limit && last !== undefined) printNote(context, `older ones: --before ${last.id}`);
  }
}

function printNew(context: CliContext, given: Given, rows: readonly KeptSummary[], isFirst: boolean): void {
  if (given.json) for (const row of rows) printLine(context, JSON.stringify(row));
  else {
    const time = (at: number): string => new Date(at).toISOString().slice(11, 19);
    const lines = formatTable(rows, columns('TIME', time, FIXED), terminalWidth(context));
    for (const line of isFirst ? lines : lines.slice(1)) printLine(context, line);
  }
}

/** Fixed widths of columns, so that they do not change while following. */
const FIXED = { route: 16, event: 20, outcome: 24 };

function columns(
  title: string,
  when: (at: number) => string,
  least: Partial<typeof FIXED> = {},
): readonly Column<KeptSummary>[] {
  return [
    { title: 'ID', value: ({ id }) => id, whole: true },
    { title, value: ({ at }) => when(at), align: 'right' },
    { title: 'ROUTE', value: ({ route }) => route.padEnd(least.route ?? 0), whole: true },
    { title: 'EVENT', value: ({ event }) => event.padEnd(least.event ?? 0), whole: true },
    { title: 'OUTCOME', value: (row) => outcomeText(row).padEnd(least.outcome ?? 0), wrap: true },
  ];
}
