/** `hookwright requests`: lists, shows and replays captured requests. */

import { writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import {
  argument,
  CONFIGS,
  command,
  flag,
  list,
  optionalArgument,
  text,
  withDefault,
  withShort,
} from '../../../cli/command-line/command.ts';
import { byOption, routeFilterOption } from '../../../cli/command-line/options.ts';
import { checkRouteName, SEARCHED } from '../../../cli/deliveries/named-filter.ts';
import { callGateway, tryCallGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, printNote, terminalWidth, visible } from '../../../cli/output/print.ts';
import type { Column } from '../../../cli/output/table.ts';
import { formatDuration, formatTable, printTable } from '../../../cli/output/table.ts';
import { personAt } from '../../../cli/store/use-store.ts';
import { subscriptionNames } from '../../../cli/subscriptions/routes.ts';
import { printedRequest } from '../../../runtime/intake/keeper.ts';
import type { KeptRequest, ReplayReport, RequestSummary } from '../../../schemas/built/operations/types.ts';
import { firstNumber, idOf } from '../runtime/capture/requests.ts';
import { BODY_MARKER } from '../runtime/removed.ts';
import { outcomeText } from './explain/format-explanation.ts';
import { bodyOf } from './explain/read-request.ts';
import { describeRequest, lacksCredential, nextStep, printCurl, printHar } from './requests/print-request.ts';
import { findNewest, findRequest, followRequests, parsePage, parseRequestFilter, useRequests } from './use-requests.ts';

const listOptions = {
  route: routeFilterOption,
  outcome: text('name', 'Only requests with this outcome'),
  reason: text('name', 'Only requests with this reason'),
  since: text('time', 'Only requests since then: 90s, 15m, 2h, 3d ago, or a date'),
  grep: text('text', 'Only requests with this text in path, headers, event, id or body'),
  limit: withDefault('50', text('count', 'Maximum number of requests (default 50)')),
  before: text('id', 'Only requests older than this one, to get the next page'),
  follow: withShort('-f', flag('Print new requests as they arrive, until Ctrl-C')),
  json: flag('Print a JSON array; with --follow one object a line'),
};

type ListInput = ValuesOf<typeof listOptions>;

/** `hookwright requests list`: lists captured requests, newest first, with their answers. */
export const requestsListCommand = command({
  options: listOptions,
  async run(context, given) {
    const now = context.clock.now();
    const filter = parseRequestFilter(given, now);
    const page = parsePage(given.limit, given.before);
    await useRequests(context, async (requests) => {
      const rows = await requests.list(filter, page);
      if (rows.length === 0 && given.route !== undefined) {
        const captured = await requests.list({}, { limit: SEARCHED });
        const stored = captured.map(({ route }) => route);
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
      } else printList(context, given, rows, page.limit, now);
    });
  },
});

function printList(
  context: CliContext,
  given: ListInput,
  rows: readonly RequestSummary[],
  limit: number,
  now: number,
): void {
  if (given.json) printJson(context, rows);
  else {
    const age = (at: number): string => formatDuration(now - at);
    printTable(context, rows, columns('AGE', age), 'no matching requests');
    const last = rows.at(-1);
    if (rows.length === limit && last !== undefined) printNote(context, `next page: --before ${last.id}`);
  }
}

function printNew(context: CliContext, given: ListInput, rows: readonly RequestSummary[], isFirst: boolean): void {
  if (given.json) for (const row of rows) printLine(context, JSON.stringify(row));
  else {
    const time = (at: number): string => new Date(at).toISOString().slice(11, 19);
    const lines = formatTable(rows, columns('TIME', time, FIXED), terminalWidth(context));
    for (const line of isFirst ? lines : lines.slice(1)) printLine(context, line);
  }
}

/** Column widths are fixed, so that they do not change while following. */
const FIXED = { route: 16, event: 20, outcome: 24 };

function columns(
  title: string,
  when: (at: number) => string,
  least: Partial<typeof FIXED> = {},
): readonly Column<RequestSummary>[] {
  return [
    { title: 'ID', value: ({ id }) => id, whole: true },
    { title, value: ({ at }) => when(at), align: 'right' },
    { title: 'ROUTE', value: (row) => routeOf(row).padEnd(least.route ?? 0), whole: true },
    { title: 'EVENT', value: ({ event }) => event.padEnd(least.event ?? 0), whole: true },
    { title: 'OUTCOME', value: (row) => outcomeText(row).padEnd(least.outcome ?? 0), wrap: true },
  ];
}

/** Maximum length of the path that stands for a missing route. */
const PATH_LENGTH = 40;

const routeOf = ({ route, path }: RequestSummary): string => (route === '' ? path.slice(0, PATH_LENGTH) : route);

const showOptions = {
  body: flag('Print only the body, byte for byte'),
  save: text('file.json', 'Write the request as a HAR file'),
  curl: flag('Print a curl command line, without credentials'),
  asTest: flag('Print a *.test.yaml that expects the current result'),
  runScript: flag("With --as-test: run the route's script; its side effects happen"),
  config: list(CONFIGS, 'Configuration for --as-test; repeatable'),
  json: flag('Print the request as one JSON object'),
};

type ShowInput = ValuesOf<typeof showOptions>;

/** `hookwright requests show <id>`: shows a captured request, the reason for its answer, and what to do next. */
export const requestsShowCommand = command({
  options: showOptions,
  args: { id: optionalArgument('id') },
  async run(context, given) {
    const request = await useRequests(context, (requests) =>
      given.id === undefined ? findNewest(requests) : findRequest(requests, given.id),
    );
    if (given.save !== undefined) write(context, given.save, request);
    const listedRequest = { ...request, isSubscription: subscriptionNames(context).includes(request.route) };
    if (given.json) printJson(context, printedRequest(request, nextStep(listedRequest)));
    else if (given.body) printBody(context, request);
    else if (given.curl) await printCurlLine(context, request);
    else if (given.asTest) await printTest(context, given, request);
    else if (given.save === undefined) {
      const layout = { now: context.clock.now(), width: terminalWidth(context) };
      for (const line of describeRequest(listedRequest, layout)) printLine(context, line);
    }
  },
});

function write(context: CliContext, file: string, request: KeptRequest): void {
  bodyOf(request);
  try {
    writeFileSync(resolve(context.cwd, file), printHar(request), { mode: 0o600 });
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${messageOf(error)}`);
  }
  printNote(context, `saved as ${file}`);
}

/** Makes control characters visible on a terminal. */
function printBody(context: CliContext, request: KeptRequest): void {
  const body = bodyOf(request);
  if (context.stdout.isTTY) {
    for (const line of body.toString('utf8').split('\n')) printLine(context, visible(line));
  } else context.stdout.write(body);
}

async function printCurlLine(context: CliContext, request: KeptRequest): Promise<void> {
  const status = await tryCallGateway(context, 'status', {});
  printLine(context, printCurl(request, status?.url ?? 'http://127.0.0.1:8644'));
  const { whyNotReplayable } = await import('../runtime/capture/replay.ts');
  const why = whyNotReplayable(request);
  printNote(
    context,
    why === null
      ? `the curl command has no signature; send the original request again: hookwright requests replay ${request.id}`
      : `the curl command has no signature, and the request cannot be replayed: ${why}`,
  );
}

async function printTest(context: CliContext, given: ShowInput, request: KeptRequest): Promise<void> {
  // Loaded on demand, because they load the compiler.
  const [{ openTested }, { printTest }] = await Promise.all([
    import('./test/load-tests.ts'),
    import('./requests/print-request.ts'),
  ]);
  const config = await openTested(context, given.config);
  if (!given.runScript && config.plan(request.route)?.script != null) {
    throw new CliError(`the test would run the script of route ${request.route}`, 'allow it: --run-script');
  }
  const saved = given.save === undefined ? null : resolve(context.cwd, given.save);
  const file = saved === null ? null : { name: basename(saved), folder: dirname(saved) };
  context.stdout.write(await printTest(request, config, file));
}

/** Timeout in ms. The script and the target may both use all of their time. */
const ANSWER_MS = 120_000;

/** `hookwright requests replay <id>`: sends a captured request through the running gateway again. */
export const requestsReplayCommand = command({
  options: { by: byOption, json: flag('Print the answer as a JSON object') },
  args: { id: argument('id') },
  async run(context, given) {
    const { id, body } = await useRequests(context, (requests) => findRequest(requests, given.id));
    const report = await callGateway(context, 'requests_replay', { id, by: personAt(context) }, ANSWER_MS);
    if (given.json) printJson(context, { ...report, replay_of: id });
    else printReplay(context, report);
    if (lacksCredential(body)) printNote(context, `credentials in the body are replaced by "${BODY_MARKER}"`);
    return report.status < 300 ? 0 : 1;
  },
});

function printReplay(context: CliContext, { id, status, answer }: ReplayReport): void {
  printLine(context, `${status} ${visible(answer)}`);
  if (id !== null) printNote(context, `captured as ${id}: hookwright requests show ${id}`);
}
