/** Describes a kept request: what it was, what decided its outcome, and what to do next. */

import type { CliContext } from '../../../../cli/base/context.ts';
import { visible, wrapBeside } from '../../../../cli/output/print.ts';
import { formatDuration } from '../../../../cli/output/time.ts';
import { REASON_TEXTS } from '../../../../runtime/verify/cause-code.ts';
import type { VerifyReason } from '../../../../runtime/verify/verification.ts';
import type { KeptRequest } from '../../../../schemas/built/operations/types.ts';
import type { KeptReason } from '../../../../schemas/generated/types.ts';
import { outcomeText } from '../texts.ts';
import type { AskedRequest } from './next-step.ts';
import { nextStep } from './next-step.ts';

const LABEL = 12;

/** How it is set: `now` in Unix ms, for ages; `width` as of `wrapBeside`. */
interface Layout {
  readonly now: number;
  readonly width: number | undefined;
}

/** @param request with the usual name of its scheme */
export function describeRequest(request: AskedRequest, { now, width }: Layout): string[] {
  const step = nextStep(request);
  const facts = factsOf(request, now).filter((fact): fact is [string, string] => fact[1] !== null);
  return [
    ...facts.flatMap(([name, value]) => wrapBeside(name.padEnd(LABEL), visible(value), width)),
    '',
    ...request.headers.flatMap(([name, value]) => wrapBeside(`  ${visible(name)}: `, visible(value), width)),
    ...(step === null ? [] : ['', ...wrapBeside('next'.padEnd(LABEL), visible(step), width)]),
  ];
}

function factsOf(request: KeptRequest, now: number): readonly (readonly [string, string | null])[] {
  const { status, about, cause, scheme, verified, body_bytes, body } = request;
  const kept =
    body === null ? (body_bytes === null ? 'not read' : `${body_bytes} bytes, not kept`) : `${body_bytes} bytes`;
  return [
    ['id', request.id],
    ['came', `${new Date(request.at).toISOString()} (${formatDuration(now - request.at)} ago)`],
    ['profile', request.profile === 'default' ? null : request.profile],
    ['route', request.route],
    ['request', `${request.method} ${request.path}`],
    ['body', kept],
    ['event', request.event === '' ? sentEvent(about) : request.event],
    ['delivery id', request.delivery_id === '' ? null : request.delivery_id],
    ['signature', verified ? `right (${scheme ?? 'none'})` : scheme === null ? null : `not right (${scheme})`],
    ['answer', `${status} ${outcomeText(request)} in ${request.ms} ms`],
    ['decided by', request.stage === null ? null : `${request.stage}${detail(about)}`],
    ['why', why(request)],
    ['cause', cause === null ? null : `${cause.text}${cause.certain ? '' : ' (a guess)'}`],
    ['delivery', request.dispatch_id],
    ['replay of', request.replay_of],
  ];
}

function why({ reason, cause }: KeptRequest): string | null {
  if (reason === null || !Object.hasOwn(REASON_TEXTS, reason)) return null;
  const text = REASON_TEXTS[reason as VerifyReason];
  return cause?.text.startsWith(text) === true ? null : text;
}

function sentEvent(about: KeptReason | null): string | null {
  return about?.kind === 'signature' && about.sent.event !== null ? `${about.sent.event} (as it says)` : null;
}

function detail(about: KeptReason | null): string {
  switch (about?.kind) {
    case undefined:
      return '';
    case 'text':
      return `: ${about.text}`;
    case 'event':
      return `: accepts ${about.accepts.join(', ')}`;
    case 'filter':
      return `: ${about.at} is false: ${about.field} ${about.operator}, found ${about.found === 'missing' ? 'nothing' : `a ${about.found}`}`;
    case 'signature':
      return `: looked for ${about.looked_for.join(', ')}`;
  }
}

/** @param scheme canonical name; a scheme of the user has only this name */
export async function knownScheme(context: CliContext, scheme: string): Promise<string> {
  const [{ sources }, { commonName }] = await Promise.all([
    context.catalog(),
    // Loaded only here: it is the compiler's.
    import('../../../../compiler/text/common-name.ts'),
  ]);
  return commonName(scheme, sources[scheme] ?? {});
}
