/** `hookwright source detect`: names the sender of a saved request, or says why each candidate would refuse it. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { GivenBy } from '../../../cli/command-line/command.ts';
import { command, optionalArgument, text } from '../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../cli/command-line/options.ts';
import { printJson, printLine, printNote, visible } from '../../../cli/output/print.ts';
import { openSources } from '../../../cli/sources/open-sources.ts';
import { commonName } from '../../../compiler/text/common-name.ts';
import { createSecrets } from '../../../runtime/platform/secrets/machine-secrets.ts';
import { SecretError } from '../../../runtime/platform/secrets/secrets.ts';
import type { SourceCandidate } from './sources/detect.ts';
import { adviseRoute, detect, explainOutcome, fits } from './sources/detect.ts';
import type { CapturedRequest } from './sources/read-capture.ts';
import { readCapture } from './sources/read-capture.ts';
import { typedSecretRef } from './texts.ts';

const options = {
  secret: text('ref', 'The secret: env:NAME, file:path, or the text itself'),
  url: text('url', 'The URL as the sender has it, where the URL is signed'),
  source: text('name', 'Only this source'),
  config: configOption,
  json: jsonOption,
};
const args = { file: optionalArgument('file') };

type Given = GivenBy<typeof options> & GivenBy<typeof args>;

export const sourceDetectCommand = command({
  summary: 'Find out which sender a saved request is from, and why it is refused',
  details:
    'Reads a raw HTTP request or a HAR file, such as `requests show --save` writes it, from a file or from stdin. With --secret every candidate is checked, and what usually goes wrong is tried; no computed signature is ever shown. Exits 1 when nothing matches.',
  examples: [
    ['A raw request', '$0 source detect request.http --secret env:WEBHOOK_SECRET'],
    ['From stdin', '$0 source detect --secret file:secret.txt < request.http'],
    ['Only the form', '$0 source detect capture.har'],
  ],
  options,
  args,
  async run(context, given) {
    const open = await openSources(context, given.config);
    const sources = given.source === undefined ? open.sources : [open.find(given.source)];
    const captures = readCapture(await read(context, given));
    const secret = readSecret(context, given);
    const { url = null } = given;
    const now = context.clock.now();
    const found = captures.map((capture) => ({ capture, candidates: detect(sources, { capture, secret, url, now }) }));
    if (given.json) printJson(context, found.map(describeJson));
    else for (const each of found) print(context, each);
    return found.every(({ candidates: [best] }) => best !== undefined && fits(best.outcome)) ? 0 : 1;
  },
});

async function read(context: CliContext, given: Given): Promise<Buffer> {
  const { stdin, cwd } = context;
  if (given.file !== undefined && given.file !== '-') return readFileSync(resolve(cwd, given.file));
  if (stdin.isTTY === true) printNote(context, 'reading the request from the terminal; end it with Ctrl-D');
  return buffer(stdin);
}

function readSecret(context: CliContext, given: Given): string | null {
  if (given.secret === undefined) return null;
  try {
    return createSecrets(context).resolve(typedSecretRef(context, given.secret));
  } catch (error) {
    if (error instanceof SecretError) throw new CliError(error.message);
    throw error;
  }
}

interface Found {
  readonly capture: CapturedRequest;
  readonly candidates: readonly SourceCandidate[];
}

function print(context: CliContext, { capture: { label, notes }, candidates }: Found): void {
  const paint = createPaint(context.colour.stdout);
  if (label !== '') printLine(context, paint('bold', visible(label)));
  for (const note of notes) printNote(context, note);
  if (candidates.length === 0)
    printLine(context, 'no source of the catalog puts a signature where this request has one');
  const width = Math.max(0, ...candidates.map(({ source }) => nameOf(source).length));
  for (const { source, outcome } of candidates) {
    const style = outcome.kind === 'match' ? 'green' : outcome.kind === 'refused' ? 'red' : 'yellow';
    printLine(context, `${paint(style, nameOf(source).padEnd(width))}  ${explainOutcome(outcome, source)}`);
  }
  const [best] = candidates;
  const advice = best === undefined ? null : adviseRoute(best, candidates);
  if (advice !== null) printNote(context, `\n${visible(advice)}`);
}

const nameOf = ({ name, file }: SourceCandidate['source']): string => commonName(name, file);

function describeJson({ capture: { label, notes }, candidates }: Found): unknown {
  const described = candidates.map(({ source, outcome, ...read }) => ({ source: source.name, ...outcome, ...read }));
  return { request: label, notes, candidates: described };
}
