/** The stages in order (§3.1, decisions §4). The first stage that returns a reply ends the request. */
import type { Intake, Services, Stage, StageName } from './intake.ts';
import { EVENT_STAGES, REQUEST_STAGES } from './intake.ts';
import type { Reply } from './reply.ts';
import { answerCallback, dispatchEvent, render } from './stages/accept.ts';
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
  settleRate,
  verifySignature,
} from './stages/authenticate.ts';
import { answerBatch } from './stages/batch.ts';
import { answerSeen, applyFilters, checkAge, checkLoop, identify, matchEvent, runScript } from './stages/decide.ts';

/** Once for each request. */
const OF_REQUEST: Readonly<Record<(typeof REQUEST_STAGES)[number], Stage>> = {
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
  parse: parsePayload, //     400, 415; 413 for a batch that is too long
};

/** For the event of the request, or for each event of a batch. */
const OF_EVENT: Readonly<Record<(typeof EVENT_STAGES)[number], Stage>> = {
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

const REQUEST_ORDER = REQUEST_STAGES.map((name) => ({ name, stage: OF_REQUEST[name] }));
const EVENT_ORDER = EVENT_STAGES.map((name) => ({ name, stage: OF_EVENT[name] }));

/** Observes a request in the stages, and can skip some of them. `intake`: the request, or an event of its batch. */
export interface Watcher {
  /** Called before each stage; true skips it. */
  readonly skips: (stage: StageName, intake: Intake) => boolean;
  /** Called after each stage, with its result. */
  readonly passed: (stage: StageName, reply: Reply | null, intake: Intake) => void;
}

/**
 * Runs the stages for a request; resolves to the reply. Rejects only after an internal error.
 * @param watcher for an explained or replayed request; otherwise null
 */
export async function runPipeline(intake: Intake, services: Services, watcher: Watcher | null = null): Promise<Reply> {
  const reply = await runStages(intake, services, watcher);
  settleRate(intake, reply);
  return reply;
}

async function runStages(intake: Intake, services: Services, watcher: Watcher | null): Promise<Reply> {
  const run = async (stages: typeof REQUEST_ORDER | typeof EVENT_ORDER, of: Intake): Promise<Reply | null> => {
    for (const { name, stage } of stages) {
      if (watcher?.skips(name, of) === true) continue;
      const result = stage(of, services);
      const reply = result instanceof Promise ? await result : result;
      if (reply !== null) of.stage = name;
      watcher?.passed(name, reply, of);
      if (reply !== null) return reply;
    }
    return null;
  };
  const finish = async (stages: typeof EVENT_ORDER, of: Intake): Promise<Reply> => {
    const reply = await run(stages, of);
    if (reply === null) throw new Error('no stage returned a reply');
    return reply;
  };
  const ended = await run(REQUEST_ORDER, intake);
  // The sender learns nothing else about a request beyond the limit.
  if (ended !== null) return intake.limited ?? ended;
  if (intake.route.plan.callback !== undefined) return answerCallback(intake, services);
  if (intake.items === null) return finish(EVENT_ORDER, intake);
  // The id of the request is part of the ids of its items.
  await run(EVENT_ORDER.slice(0, 1), intake);
  const stages = {
    decide: (of: Intake) => run(EVENT_ORDER.slice(0, -1), of),
    dispatch: (of: Intake) => finish(EVENT_ORDER.slice(-1), of),
  };
  return answerBatch(intake, intake.items, stages, services);
}
