/** The way of a request, in order (§3.1, decisions §4). A stage that answers ends it. */
import type { Intake, Services, Stage } from './intake.ts';
import type { Reply } from './reply.ts';
import { receiveBody } from './stages/body.ts';
import { answerChallenge } from './stages/challenge.ts';
import { requireCredential } from './stages/credential.ts';
import { dispatchEvent } from './stages/dispatch.ts';
import { matchEvent } from './stages/events.ts';
import { applyFilters } from './stages/filters.ts';
import { answerHandshake } from './stages/handshake.ts';
import { identify } from './stages/identify.ts';
import { checkMethod } from './stages/method.ts';
import { checkOpen } from './stages/open.ts';
import { checkOrigin } from './stages/origin.ts';
import { parsePayload } from './stages/parse.ts';
import { answerProbe } from './stages/probe.ts';
import { checkRate } from './stages/rate-check.ts';
import { consumeRate } from './stages/rate-consume.ts';
import { render } from './stages/render.ts';
import { runScript } from './stages/script.ts';
import { answerSeen } from './stages/seen.ts';
import { verifySignature } from './stages/signature.ts';
import { checkSize } from './stages/size.ts';

const STAGES: readonly Stage[] = [
  checkMethod, //     405
  checkOpen, //       503 while stopping or overloaded, 403 when disabled
  checkOrigin, //     403 for web pages where nothing is signed
  checkRate, //       429
  answerProbe, //     handshakes by GET and HEAD
  checkSize, //       413 by the declared length
  requireCredential, // 401 without anything that could be a signature
  receiveBody, //     413, 503, 408
  answerHandshake, // those that bring the secret
  verifySignature, // 401
  answerChallenge, // signed ones
  consumeRate, //     429
  parsePayload, //    400, 415
  identify, //        event type and delivery id
  matchEvent, //      ignored: event
  applyFilters, //    ignored: filter
  answerSeen, //      duplicate
  runScript, //       ignored: script
  render, //          prompt and addresses
  dispatchEvent, //   accepted, coalesced, delivered, duplicate, ignored, 502, 503
];

/** Takes a request through the stages. Rejects only for a fault of ours. */
export async function runPipeline(intake: Intake, services: Services): Promise<Reply> {
  for (const stage of STAGES) {
    const result = stage(intake, services);
    const reply = result instanceof Promise ? await result : result;
    if (reply !== null) return reply;
  }
  throw new Error('no stage answered');
}
