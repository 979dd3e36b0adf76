/** `hookwright requests show <id>`: shows a kept request, the reason for its answer, and what to do next. */
import { writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { messageOf } from '../../../../../base/message-of.ts';
import type { CliContext } from '../../../../../cli/base/context.ts';
import { CliError } from '../../../../../cli/base/errors.ts';
import type { GivenBy } from '../../../../../cli/command-line/command.ts';
import { command, flag, list, optionalArgument, text } from '../../../../../cli/command-line/command.ts';
import { tryAskGateway } from '../../../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, printNote, terminalWidth, visible } from '../../../../../cli/output/print.ts';
import { subscriptionNames } from '../../../../../cli/subscriptions/names-in-use.ts';
import type { KeptRequest } from '../../../../../runtime/intake/kept-request.ts';
import { printedRequest } from '../../../../../runtime/intake/kept-request.ts';
import { whyUnverified } from '../../../runtime/capture/requests.ts';
import { describeRequest, knownScheme } from '../../requests/describe-request.ts';
import { nextStep } from '../../requests/next-step.ts';
import { printCurl, printHar } from '../../requests/print-request.ts';
import { findNewest, findRequest, useRequests } from '../../use-requests.ts';

const options = {
  body: flag('Print the body alone, as it came'),
  save: text('file.json', 'Write the request as a HAR file'),
  curl: flag('Print a curl command line, without credentials'),
  asTest: flag('Print a *.test.yaml that expects what becomes of it now'),
  runScript: flag("With --as-test: run the route's script"),
  config: list('path|glob', 'Configuration for --as-test; repeatable'),
  json: flag('Print everything as one object'),
};

type Given = GivenBy<typeof options>;

export default command({
  summary: 'Show one request: what decided, why, and what to do next',
  details:
    'The beginning of an id is enough; without one it is the newest. A request without a valid signature is kept without its body. What is saved with --save is read by `explain --payload @file` and as `request:` of a test; credentials are missing in it.',
  examples: [
    ['Why was the last one refused?', '$0 requests show'],
    ['What decided, and what to do', '$0 requests show 1bkq0c5f2g'],
    ['Its payload', '$0 requests show 1bkq0c5f2g --body | jq .'],
    ['A test that passes as it is', '$0 requests show 1bkq0c5f2g --as-test > review.test.yaml'],
  ],
  options,
  args: { id: optionalArgument('id') },
  async run(context, given) {
    const request = await useRequests(context, (requests) =>
      given.id === undefined ? findNewest(requests) : findRequest(requests, given.id),
    );
    if (given.save !== undefined) write(context, given.save, request);
    const asked = { ...request, isSubscription: subscriptionNames(context).includes(request.route) };
    if (given.json) printJson(context, printedRequest(request, nextStep(asked)));
    else if (given.body) printBody(context, request);
    else if (given.curl) await printCurlLine(context, request);
    else if (given.asTest) await printTest(context, given, request);
    else if (given.save === undefined) {
      const scheme = request.scheme === null ? null : await knownScheme(context, request.scheme);
      const layout = { now: context.clock.now(), width: terminalWidth(context) };
      for (const line of describeRequest({ ...asked, scheme }, layout)) printLine(context, line);
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

/** On a terminal, control characters are made visible. */
function printBody(context: CliContext, request: KeptRequest): void {
  const body = bodyOf(request);
  if (context.stdout.isTTY) {
    for (const line of body.toString('utf8').split('\n')) printLine(context, visible(line));
  } else context.stdout.write(body);
}

async function printCurlLine(context: CliContext, request: KeptRequest): Promise<void> {
  const status = await tryAskGateway(context, 'status', {});
  printLine(context, printCurl(request, status?.url ?? 'http://127.0.0.1:8644'));
  const { whyNotReplayable } = await import('../../../runtime/capture/replay.ts');
  const why = whyNotReplayable(request);
  printNote(
    context,
    why === null
      ? `it is not signed: hookwright requests replay ${request.id} sends it as it was`
      : `it is not signed, and cannot be replayed either: ${why}`,
  );
}

async function printTest(context: CliContext, given: Given, request: KeptRequest): Promise<void> {
  // Loaded on demand: they pull in the compiler.
  const [{ openTested }, { printTest }] = await Promise.all([
    import('../../test/tested-config.ts'),
    import('../../requests/print-test.ts'),
  ]);
  const config = await openTested(context, given.config);
  if (!given.runScript && config.plan(request.route)?.script != null) {
    throw new CliError(`route ${request.route} has a script, which would run`, 'run it: --run-script');
  }
  const saved = given.save === undefined ? null : resolve(context.cwd, given.save);
  const file = saved === null ? null : { name: basename(saved), folder: dirname(saved) };
  context.stdout.write(await printTest(request, config, file));
}

/** @throws CliError when it is not kept */
function bodyOf(kept: KeptRequest): Buffer {
  const { id, body, verified } = kept;
  if (body !== null) return Buffer.from(body, 'base64');
  const why = verified ? 'it was not read, or holds a credential' : whyUnverified(kept);
  throw new CliError(`the body of request ${id} is not kept: ${why}`);
}
