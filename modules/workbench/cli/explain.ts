/** `hookwright explain`: shows what a route would do with an event under the current configuration, and why. Has no effect. */
import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { UsageError } from '../../../cli/base/errors.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { command, flag, list, optionalArgument, text } from '../../../cli/command-line/command.ts';
import { configOption } from '../../../cli/command-line/options.ts';
import { printJson, printLine, printNote } from '../../../cli/output/print.ts';
import { findRoute, routePath } from '../../../cli/subscriptions/routes.ts';
import { readRules, showRule } from './docs.ts';
import { explainRoute } from './explain/explain-route.ts';
import { explainReach, formatExplanation, outcomeText } from './explain/format-explanation.ts';
import { openConfig } from './explain/machine-services.ts';
import type { CapturedInput, ReadRequest } from './explain/read-request.ts';
import { readCaptured, readRequest } from './explain/read-request.ts';

const options = {
  request: text('id', 'A captured request; the route defaults to its route'),
  payload: text('@file|-|json', 'The body, or a saved request (raw HTTP or HAR)'),
  header: list("'Name: value'", 'A header of the request; repeatable'),
  event: text('type', 'Event type, instead of the one in the request'),
  runScript: flag("Run the route's script; its side effects happen"),
  config: configOption,
  json: flag('Print JSON: hookwright schema explain'),
};
const args = { route: optionalArgument('route') };

type Input = ValuesOf<typeof options> & ValuesOf<typeof args>;

export const explainCommand = command({
  options,
  args,
  async run(context, given) {
    if (isAboutRule(given)) {
      showRule(context, given.route ?? '', given.json);
      return 0;
    }
    const captured = await capturedInput(context, given);
    const open = await openConfig(context, given.config);
    const { table, files } = open;
    const name = given.route ?? captured?.route;
    if (name === undefined) throw new UsageError('explain needs a route', 'list all routes: hookwright webhook list');
    const { plan } = findRoute(context, name, { ...open, url: null });
    const { parts, notes, ...verified } = captured ?? (await readPayload(context, given, routePath(plan)));
    const request = { plan, table, files, request: parts, event: given.event ?? null, runsScript: given.runScript };
    const explanation = {
      ...(await explainRoute(context, { ...request, ...verified })),
      ...explainReach(open.reach(plan.name)),
    };
    for (const note of notes) printNote(context, note);
    if (captured !== null && captured.answered !== `${explanation.status} ${outcomeText(explanation)}`)
      printNote(context, `the original answer was ${captured.answered}`);
    if (given.json) printJson(context, explanation);
    else
      for (const line of formatExplanation(explanation, createPaint(context.colour.stdout))) printLine(context, line);
    return explanation.taken ? 0 : 1;
  },
});

/** Without a request there is no event to explain, so a rule's name cannot be confused with a route's. */
function isAboutRule(given: Input): boolean {
  const { route, request, payload } = given;
  return route !== undefined && request === undefined && payload === undefined && readRules().has(route);
}

/** Returns null if the command line names no captured request. */
async function capturedInput(context: CliContext, given: Input): Promise<CapturedInput | null> {
  const { request, payload, header } = given;
  if (request === undefined) return null;
  if (payload !== undefined || header !== undefined) {
    throw new UsageError('--request already has a body and headers: remove --payload and --header');
  }
  return readCaptured(context, request);
}

function readPayload(context: CliContext, given: Input, path: string): Promise<ReadRequest> {
  const { payload, header } = given;
  if (payload === undefined)
    throw new UsageError('explain needs a request', '--payload @event.json, - for stdin, or --request <id>');
  return readRequest(context, { payload, headers: header ?? [], path });
}
