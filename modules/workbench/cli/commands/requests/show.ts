/** `hookwright requests show <id>`: shows a kept request, the reason for its answer, and what to do next. */
import { isUtf8 } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { messageOf } from '../../../../../base/message-of.ts';
import type { CliContext } from '../../../../../cli/base/context.ts';
import { CliError } from '../../../../../cli/base/errors.ts';
import { tryAskGateway } from '../../../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, printNote, terminalWidth, visible } from '../../../../../cli/output/print.ts';
import type { KeptRequest } from '../../../../../runtime/intake/kept-request.ts';
import { namesFor } from '../../../../setup/cli/completion/names.ts';
import { describeRequest } from '../../requests/describe-request.ts';
import { knownScheme } from '../../requests/known-scheme.ts';
import { printCurl } from '../../requests/print-curl.ts';
import { printHar } from '../../requests/print-har.ts';
import { findNewest, findRequest, useRequests } from '../../use-requests.ts';

export class RequestsShowCommand extends Command<CliContext> {
  static override paths = [['requests', 'show']];
  static override usage = Command.Usage({
    description: 'Show one request: what decided, why, and what to do next',
    details:
      'The beginning of an id is enough; without one it is the newest. A request without a valid signature is kept without its body. What is saved with --save is read by `explain --payload @file` and as `request:` of a test; credentials are missing in it.',
    examples: [
      ['Why was the last one refused?', '$0 requests show'],
      ['What decided, and what to do', '$0 requests show 1bkq0c5f2g'],
      ['Its payload', '$0 requests show 1bkq0c5f2g --body | jq .'],
      ['A test that passes as it is', '$0 requests show 1bkq0c5f2g --as-test > review.test.yaml'],
    ],
  });

  id = Option.String({ name: 'id', required: false });
  body = Option.Boolean('--body', false, { description: 'Print the body alone, as it came' });
  save = Option.String('--save', { description: '<file.json> Write the request as a HAR file' });
  curl = Option.Boolean('--curl', false, { description: 'Print a curl command line, without credentials' });
  asTest = Option.Boolean('--as-test', false, {
    description: 'Print a *.test.yaml that expects what becomes of it now',
  });
  runScript = Option.Boolean('--run-script', false, { description: "With --as-test: run the route's script" });
  config = Option.Array('--config', { description: '<path|glob> Configuration for --as-test; repeatable' });
  json = Option.Boolean('--json', false, { description: 'Print everything as one object' });

  async execute(): Promise<number> {
    const request = await useRequests(this.context, (requests) =>
      this.id === undefined ? findNewest(requests) : findRequest(requests, this.id),
    );
    if (this.save !== undefined) this.write(this.save, request);
    if (this.json) printJson(this.context, toJson(request));
    else if (this.body) this.printBody(request);
    else if (this.curl) await this.printCurl(request);
    else if (this.asTest) await this.printTest(request);
    else if (this.save === undefined) {
      const subscriptions = await namesFor({ kind: 'subscription', given: [], partial: '' }, this.context);
      const scheme = request.scheme === null ? null : await knownScheme(this.context, request.scheme);
      const asked = { ...request, scheme, isSubscription: subscriptions.includes(request.route) };
      const layout = { now: this.context.clock.now(), width: terminalWidth(this.context) };
      for (const line of describeRequest(asked, layout)) printLine(this.context, line);
    }
    return 0;
  }

  private write(file: string, request: KeptRequest): void {
    bodyOf(request);
    try {
      writeFileSync(resolve(this.context.cwd, file), printHar(request), { mode: 0o600 });
    } catch (error) {
      throw new CliError(`${file} cannot be written: ${messageOf(error)}`);
    }
    printNote(this.context, `saved as ${file}`);
  }

  /** On a terminal, control characters are made visible. */
  private printBody(request: KeptRequest): void {
    const body = bodyOf(request);
    if (this.context.stdout.isTTY) {
      for (const line of body.toString('utf8').split('\n')) printLine(this.context, visible(line));
    } else this.context.stdout.write(body);
  }

  private async printCurl(request: KeptRequest): Promise<void> {
    const status = await tryAskGateway(this.context, 'status', {});
    printLine(this.context, printCurl(request, status?.url ?? 'http://127.0.0.1:8644'));
    const { whyNotReplayable } = await import('../../../runtime/capture/replay-request.ts');
    const why = whyNotReplayable(request);
    printNote(
      this.context,
      why === null
        ? `it is not signed: hookwright requests replay ${request.id} sends it as it was`
        : `it is not signed, and cannot be replayed either: ${why}`,
    );
  }

  private async printTest(request: KeptRequest): Promise<void> {
    // Loaded on demand: they pull in the compiler.
    const [{ openTested }, { printTest }] = await Promise.all([
      import('../../test/tested-config.ts'),
      import('../../requests/print-test.ts'),
    ]);
    const config = await openTested(this.context, this.config);
    if (!this.runScript && config.plan(request.route)?.script != null) {
      throw new CliError(`route ${request.route} has a script, which would run`, 'run it: --run-script');
    }
    const saved = this.save === undefined ? null : resolve(this.context.cwd, this.save);
    const file = saved === null ? null : { name: basename(saved), folder: dirname(saved) };
    this.context.stdout.write(await printTest(request, config, file));
  }
}

/** @throws CliError when it is not kept */
function bodyOf({ id, body, verified }: KeptRequest): Buffer {
  if (body !== null) return Buffer.from(body, 'base64');
  const why = verified ? 'it was not read, or holds a credential' : 'it had no valid signature';
  throw new CliError(`the body of request ${id} is not kept: ${why}`);
}

/** A text as text. */
function toJson({ body, ...rest }: KeptRequest) {
  const bytes = body === null ? null : Buffer.from(body, 'base64');
  const isText = bytes !== null && isUtf8(bytes);
  return { ...rest, body: isText ? bytes.toString('utf8') : null, body_base64: isText ? null : body };
}
