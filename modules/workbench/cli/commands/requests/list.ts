/** `hookwright requests list`: what came in, newest first, and how it was answered. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../../../../cli/base/context.ts';
import { routeFilterOption } from '../../../../../cli/command-line/options.ts';
import { printJson, printLine, printNote, terminalWidth } from '../../../../../cli/output/print.ts';
import type { Column } from '../../../../../cli/output/table.ts';
import { formatTable, printTable } from '../../../../../cli/output/table.ts';
import { formatDuration } from '../../../../../cli/output/time.ts';
import type { KeptSummary } from '../../../../../runtime/intake/kept-request.ts';
import { firstNumber, idOf } from '../../../runtime/capture/request-id.ts';
import { outcomeText } from '../../requests/describe-request.ts';
import { checkRouteName, parsePage, parseRequestFilter } from '../../requests/filter.ts';
import { followRequests } from '../../requests/follow.ts';
import { useRequests } from '../../use-requests.ts';

export class RequestsListCommand extends Command<CliContext> {
  static override paths = [['requests', 'list']];
  static override usage = Command.Usage({
    description: 'List the requests that were kept, newest first',
    details:
      'Which requests are kept, and for how long: `capture` of a route and of `gateway`. Credentials are never kept. An outcome is the `status` of the answer (accepted, ignored, …) or the `code` of its error (invalid_signature, …).',
    examples: [
      ['The newest 50', '$0 requests list'],
      ['What was refused or ignored on a route', '$0 requests list --route review --outcome ignored'],
      ['Those that speak of a branch', '$0 requests list --grep refs/heads/main --since 2h'],
      ['As they come', '$0 requests list --follow'],
    ],
  });

  route = routeFilterOption();
  outcome = Option.String('--outcome', { description: '<name> Only this outcome' });
  reason = Option.String('--reason', { description: '<name> Only this reason' });
  since = Option.String('--since', { description: '<time> Only since: 90s, 15m, 2h, 3d, or a date' });
  grep = Option.String('--grep', { description: '<text> Only with this text in path, headers, event, id or body' });
  limit = Option.String('--limit', '50', { description: '<count> At most this many (default 50)' });
  before = Option.String('--before', { description: '<id> Only older ones than this: the next page' });
  follow = Option.Boolean('-f,--follow', false, { description: 'Print new ones as they arrive, until Ctrl-C' });
  json = Option.Boolean('--json', false, { description: 'Print an array of objects; with --follow one a line' });

  async execute(): Promise<number> {
    const now = this.context.clock.now();
    const filter = parseRequestFilter(this, now);
    const page = parsePage(this.limit, this.before);
    await useRequests(this.context, async (requests) => {
      const rows = await requests.list(filter, page);
      if (rows.length === 0 && this.route !== undefined) await checkRouteName(this.context, requests, this.route);
      if (this.follow) {
        const after = rows[0]?.id ?? idOf(firstNumber(now));
        this.printNew([...rows].reverse(), true);
        await followRequests(this.context, requests, { filter, after, print: (more) => this.printNew(more, false) });
      } else this.print(rows, page.limit, now);
    });
    return 0;
  }

  private print(rows: readonly KeptSummary[], limit: number, now: number): void {
    if (this.json) printJson(this.context, rows);
    else {
      const age = (at: number): string => formatDuration(now - at);
      printTable(this.context, rows, columns('AGE', age), 'no request of that kind is kept');
      const last = rows.at(-1);
      if (rows.length === limit && last !== undefined) printNote(this.context, `older ones: --before ${last.id}`);
    }
  }

  private printNew(rows: readonly KeptSummary[], isFirst: boolean): void {
    if (this.json) for (const row of rows) printLine(this.context, JSON.stringify(row));
    else {
      const time = (at: number): string => new Date(at).toISOString().slice(11, 19);
      const lines = formatTable(rows, columns('TIME', time, FIXED), terminalWidth(this.context));
      for (const line of isFirst ? lines : lines.slice(1)) printLine(this.context, line);
    }
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
