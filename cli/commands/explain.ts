/** `hookwright explain`: what becomes of an event on a route as it is configured now, and why. Without effect. */
import { Command, Option } from 'clipanion';
import { createPaint } from '../base/colour.ts';
import type { CliContext } from '../base/context.ts';
import { UsageError } from '../base/errors.ts';
import { configOption } from '../command-line/options.ts';
import { explainRoute } from '../explain/explain-route.ts';
import { formatExplanation } from '../explain/format-explanation.ts';
import { openConfig } from '../explain/open-config.ts';
import { readRequest } from '../explain/read-request.ts';
import { printJson, printLine, printNote } from '../output/print.ts';
import { findRoute } from '../subscriptions/find-route.ts';
import { routePath } from '../subscriptions/route-url.ts';

export class ExplainCommand extends Command<CliContext> {
  static override paths = [['explain']];
  static override usage = Command.Usage({
    description: 'Show what becomes of an event on a route, and why',
    details:
      'Every stage, every filter with what it found, the prompt, the addresses. The event goes through the stages of the gateway, on the configuration as it is now, without any effect. A payload is a JSON body, or a saved request: raw HTTP, a curl command line, a HAR file. A signature is verified when the request carries one. Exits 0 when the event would be taken, 1 when not.',
    examples: [
      ['A recorded payload', '$0 explain code-review --event pull_request --payload @pull_request.json'],
      ['A copied curl command, signature and all', 'pbpaste | $0 explain code-review --payload -'],
      ['With its headers', "$0 explain alerts --payload @body.json --header 'X-GitHub-Event: push'"],
      ['For a program', '$0 explain code-review --payload @event.json --json | jq .reason'],
    ],
  });

  route = Option.String({ name: 'route' });
  payload = Option.String('--payload', { description: '<@file|-|json> The body, or a saved request' });
  header = Option.Array('--header', { description: "<'Name: value'> A header of the request; repeatable" });
  event = Option.String('--event', { description: '<type> Event type, in place of the one that is sent' });
  runScript = Option.Boolean('--run-script', false, { description: "Run the route's script, with its effects" });
  config = configOption();
  json = Option.Boolean('--json', false, { description: 'Print JSON: hookwright schema explain' });

  async execute(): Promise<number> {
    const { context, payload } = this;
    if (payload === undefined) throw new UsageError('explain needs a request', '--payload @event.json, or - for stdin');
    const { table, facts } = await openConfig(context, this.config);
    const { plan } = findRoute(context, this.route, { table, facts, url: null });
    const { parts, notes } = await readRequest(context, {
      ...{ payload, headers: this.header ?? [], path: routePath(plan) },
    });
    const request = { plan, table, request: parts, event: this.event ?? null, runsScript: this.runScript };
    const found = await explainRoute(context, request);
    for (const note of notes) printNote(context, note);
    if (this.json) printJson(context, found);
    else for (const line of formatExplanation(found, createPaint(context.colour.stdout))) printLine(context, line);
    return found.taken ? 0 : 1;
  }
}
