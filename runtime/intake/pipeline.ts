/** The stages in order (§3.1, decisions §4). The first stage that returns a reply ends the request. */
import type { Intake, Services, Stage, StageName } from './intake.ts';
import { STAGE_NAMES } from './intake.ts';
import type { Reply } from './reply.ts';
import { dispatchEvent, render } from './stages/accept.ts';
import {
  answerChallenge,
  answerHandshake,
  answerProbe,
  checkCredential,
  checkMethod,
  checkOpen,
  checkOrigin,
  checkRate,
  checkSize,
  consumeRate,
  parsePayload,
  receiveBody,
  verifySignature,
} from './stages/authenticate.ts';
import { answerSeen, applyFilters, checkAge, checkLoop, identify, matchEvent, runScript } from './stages/decide.ts';

const STAGES: Readonly<Record<StageName, Stage>> = {
  method: checkMethod, //     405
  open: checkOpen, //         503 while stopping or overloaded, 403 when disabled
  origin: checkOrigin, //     403 for web pages where nothing is signed
  rate_check: checkRate, //   429
  probe: answerProbe, //      handshakes by GET and HEAD
  size: checkSize, //         413 by the declared length
  credential: checkCredential, // 401 by the head alone
  body: receiveBody, //       413, 503, 408
  handshake: answerHandshake, // handshakes that carry the secret
  signature: verifySignature, // 401
  challenge: answerChallenge, // signed handshakes
  rate_consume: consumeRate, // 429
  parse: parsePayload, //     400, 415
  identify, //                event type and delivery id
  event: matchEvent, //       ignored: event
  filter: applyFilters, //    ignored: filter
  age: checkAge, //           ignored: age
  loop: checkLoop, //         ignored: loop
  duplicate: answerSeen, //   duplicate
  script: runScript, //       ignored: script
  render, //                  prompt and addresses
  dispatch: dispatchEvent, // accepted, coalesced, delivered, duplicate, ignored, 502, 503
};

const IN_ORDER = STAGE_NAMES.map((name) => ({ name, stage: STAGES[name] }));

/** Observes a request in the stages, and can skip some of them. */
export interface Watcher {
  /** Called before each stage; true skips it. */
  readonly skips: (stage: StageName) => boolean;
  /** Called after each stage, with its result. */
  readonly passed: (stage: StageName, reply: Reply | null) => void;
}

/**
 * Runs the stages for a request; resolves to the reply. Rejects only after an internal error.
 * @param watcher for an explained or replayed request; otherwise null
 */
export async function runPipeline(intake: Intake, services: Services, watcher: Watcher | null = null): Promise<Reply> {
  for (const { name, stage } of IN_ORDER) {
    if (watcher?.skips(name) === true) continue;
    const result = stage(intake, services);
    const reply = result instanceof Promise ? await result : result;
    if (reply !== null) intake.stage = name;
    watcher?.passed(name, reply);
    if (reply !== null) return reply;
  }
  throw new Error('no stage returned a reply');
}
