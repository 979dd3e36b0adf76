/** `hookwright source detect`: names the sender of a saved request, or says why each candidate would refuse it. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { command, optionalArgument, text } from '../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../cli/command-line/options.ts';
import { printJson, printLine, printNote, visible } from '../../../cli/output/print.ts';
import { openSources } from '../../../cli/sources/open-sources.ts';
import type { LoweredSource } from '../../../compiler/lower/sources.ts';
import { describeWindow } from '../../../compiler/sources/describe-source.ts';
import { createSecrets, SecretError } from '../../../runtime/platform/secrets.ts';
import { checkWindow, readTimestamp } from '../../../runtime/verify/content.ts';
import { rankOf } from '../../../runtime/verify/likely-sources.ts';
import { LazyRequest, readFirst, readValue } from '../../../runtime/verify/request.ts';
import type { VerifyReason } from '../../../runtime/verify/verification.ts';
import { REASON_TEXTS } from '../../../runtime/verify/verification.ts';
import type { SchemePlan } from '../../../schemas/generated/types.ts';
import { findNearMiss } from '../runtime/causes/near-misses.ts';
import type { Trial } from '../runtime/causes/trial.ts';
import { tryTrial } from '../runtime/causes/trial.ts';
import { typedSecretRef } from './explain/format-explanation.ts';
import type { ParsedCapture } from './sources/read-capture.ts';
import { readCapture } from './sources/read-capture.ts';

const options = {
  secret: text('ref', 'The secret: env:NAME, file:path, or the text itself'),
  url: text('url', 'The URL as configured at the sender, if the URL is signed'),
  source: text('name', 'Check only this source'),
  config: configOption,
  json: jsonOption,
};
const args = { file: optionalArgument('file') };

type Input = ValuesOf<typeof options> & ValuesOf<typeof args>;

export const sourceDetectCommand = command({
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

async function read(context: CliContext, given: Input): Promise<Buffer> {
  const { stdin, cwd } = context;
  if (given.file !== undefined && given.file !== '-') return readFileSync(resolve(cwd, given.file));
  if (stdin.isTTY === true) printNote(context, 'reading the request from the terminal; end it with Ctrl-D');
  return buffer(stdin);
}

function readSecret(context: CliContext, given: Input): string | null {
  if (given.secret === undefined) return null;
  try {
    return createSecrets(context).resolve(typedSecretRef(context, given.secret));
  } catch (error) {
    if (error instanceof SecretError) throw new CliError(error.message);
    throw error;
  }
}

interface DetectReport {
  readonly capture: ParsedCapture;
  readonly candidates: readonly SourceCandidate[];
}

function print(context: CliContext, { capture: { label, notes }, candidates }: DetectReport): void {
  const paint = createPaint(context.colour.stdout);
  if (label !== '') printLine(context, paint('bold', visible(label)));
  for (const note of notes) printNote(context, note);
  if (candidates.length === 0)
    printLine(context, 'no source in the catalog matches the signature headers of this request');
  const width = Math.max(0, ...candidates.map(({ source }) => source.name.length));
  for (const { source, outcome } of candidates) {
    const style = outcome.kind === 'match' ? 'green' : outcome.kind === 'refused' ? 'red' : 'yellow';
    printLine(context, `${paint(style, source.name.padEnd(width))}  ${explainOutcome(outcome, source)}`);
  }
  const [best] = candidates;
  const advice = best === undefined ? null : adviseRoute(best, candidates);
  if (advice !== null) printNote(context, `\n${visible(advice)}`);
}

function describeJson({ capture: { label, notes }, candidates }: DetectReport): unknown {
  const described = candidates.map(({ source, outcome, ...read }) => ({ source: source.name, ...outcome, ...read }));
  return { request: label, notes, candidates: described };
}

/** Finds the sources that a captured request may come from, and explains on the terminal why they would not accept it. */
export type Detection =
  /** The signature is valid; `window` says whether it would be accepted now. */
  | { readonly kind: 'match'; readonly window: VerifyReason | null }
  /** `near`: the change that would make the signature match. */
  | { readonly kind: 'refused'; readonly reason: VerifyReason; readonly near: string | null }
  /** The form matches; there is no secret to check the signature with. */
  | { readonly kind: 'unchecked'; readonly reason: VerifyReason | null; readonly window: VerifyReason | null };

export interface SourceCandidate {
  readonly source: LoweredSource;
  readonly outcome: Detection;
  /** Event type and delivery id, read as from this source. */
  readonly event: string | null;
  readonly delivery: string | null;
}

export interface DetectInput {
  readonly capture: ParsedCapture;
  /** Null: only the form of the signature is checked. */
  readonly secret: string | null;
  /** The URL as configured at the sender, instead of the capture's URL. */
  readonly url: string | null;
  /** Unix ms. */
  readonly now: number;
}

/** Replaces a missing secret; no signature matches it. */
const NO_SECRET = 'not the secret';

/** Returns the best candidates first: those that match, then those that fit more of the request's headers. */
export function detect(sources: readonly LoweredSource[], input: DetectInput): SourceCandidate[] {
  const request = new LazyRequest(input.capture.parts);
  const rank = ({ source }: SourceCandidate): number => rankOf(source.plan, request);
  return sources
    .filter(({ plan }) => isPresent(plan, request))
    .map((source) => judge(source, request, input))
    .sort((a, b) => worth(b) - worth(a) || rank(b) - rank(a) || (a.source.name < b.source.name ? -1 : 1));
}

function isPresent(plan: SchemePlan, request: LazyRequest): boolean {
  if (plan.body_hash !== null && readValue(plan.body_hash.at, request) === undefined) return false;
  return plan.signature.some((at) => typeof readValue(at, request) === 'string');
}

function judge(
  source: LoweredSource,
  request: LazyRequest,
  { capture, secret, url, now }: DetectInput,
): SourceCandidate {
  const { plan } = source;
  const trial: Trial = { plan, parts: capture.parts, secret: secret ?? NO_SECRET, url: url ?? capture.url };
  return {
    source,
    outcome: outcomeOf(trial, secret !== null, windowOf(plan, request, now)),
    event: readFirst(plan.event, request, true),
    delivery: readFirst(plan.delivery, request, true),
  };
}

function outcomeOf(trial: Trial, hasSecret: boolean, window: VerifyReason | null): Detection {
  const result = tryTrial(trial);
  if (result.ok) return { kind: 'match', window };
  const { reason } = result;
  if (hasSecret) return { kind: 'refused', reason, near: findNearMiss(trial)?.says ?? null };
  return { kind: 'unchecked', reason: reason === 'mismatch' || reason === 'unusable_secret' ? null : reason, window };
}

function windowOf(plan: SchemePlan, request: LazyRequest, now: number): VerifyReason | null {
  if (plan.timestamp === null) return null;
  const timestamp = readTimestamp(plan.timestamp, request);
  return typeof timestamp === 'string' ? timestamp : checkWindow(plan.timestamp, timestamp.text, now);
}

function worth({ outcome }: SourceCandidate): number {
  if (outcome.kind === 'match') return 3;
  if (outcome.kind === 'unchecked') return outcome.reason === null ? 2 : 0;
  return outcome.near === null ? 0 : 1;
}

/** One line about a candidate. */
export function explainOutcome(outcome: Detection, { file }: LoweredSource): string {
  if (outcome.kind === 'match') {
    if (outcome.window === null) return 'matches';
    return `matches, but ${REASON_TEXTS[outcome.window]} (window: ${describeWindow(file) ?? 'none'})`;
  }
  if (outcome.kind === 'unchecked') {
    return outcome.reason === null ? 'has the right form; give --secret to check it' : REASON_TEXTS[outcome.reason];
  }
  return outcome.near === null ? REASON_TEXTS[outcome.reason] : `would match, but ${outcome.near}`;
}

/** Whether the source matches, or may match. */
export const fits = (outcome: Detection): boolean =>
  outcome.kind === 'match' || (outcome.kind === 'unchecked' && outcome.reason === null);

/** What to write into the configuration; null if it is unknown. */
export function adviseRoute(
  { source, outcome, event, delivery }: SourceCandidate,
  candidates: readonly SourceCandidate[],
): string | null {
  if (!fits(outcome)) return null;
  const { name } = source;
  const others = outcome.kind === 'match' ? candidates.slice(1).filter((each) => each.outcome.kind === 'match') : [];
  const about = [...(event === null ? [] : [`event ${event}`]), ...(delivery === null ? [] : [`delivery ${delivery}`])];
  const read = about.length === 0 ? '' : ` It reads ${about.join(' and ')} from this request.`;
  const same =
    others.length === 0 ? '' : ` ${others.length} other sources verify the same signature but read other fields.`;
  return `On the route: source: ${name}.${read}${same}`;
}
