/** Runs a profile's agent once for the run worker, and returns the outcome of the run. Never throws. */
import { isBlank } from '../../base/text.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import { traceContextOf } from '../platform/log.ts';
import { deniedNote, storedTail } from '../platform/process/stderr-tail.ts';
import type { SaidTurn } from '../store/queries.ts';
import type { ProgramEnd } from '../store/states.ts';
import { supersededNote } from '../store/states.ts';
import type { Usage } from '../store/usage.ts';
import type { AgentFailure, AgentRequest, RunReport } from './agent-runner.ts';
import { AgentError, AgentNotStarted } from './agent-runner.ts';
import type { CheckedOutputs, Handover, ProfileAgent } from './context.ts';

export type RunOutcome =
  /** `unmarked`: a `[SILENT]` was removed from a text that is too long to be a remark. */
  | { readonly kind: 'answered'; readonly text: string; readonly unmarked?: true }
  /** Nothing to deliver: an empty answer, or `[SILENT]`. */
  | { readonly kind: 'silent'; readonly text: string; readonly reason: string }
  | ({ readonly kind: 'failed'; readonly reason: string } & AgentFailure)
  /** Not begun, because the machine lacks something that it needs. */
  | { readonly kind: 'postponed'; readonly reason: string }
  /** Cancelled because the drain timed out, or by a newer event. */
  | { readonly kind: 'interrupted' };

export interface AgentRun {
  readonly outcome: RunOutcome;
  /** Null when the agent is not a program, or none was started. */
  readonly program: ProgramEnd | null;
  /** Null: the agent has not reported it. */
  readonly usage: Usage | null;
  /** The checked outputs; null: the run may not have any. */
  readonly outputs: CheckedOutputs | null;
}

/** The input of a run besides its dispatch. */
interface RunParts {
  readonly handover?: Handover | null;
  /** The earlier turns of its session. */
  readonly said?: readonly SaidTurn[];
}

const SILENT = '[SILENT]';

/** Why a run is aborted: its time limit, a drain that timed out, or a newer event. The first reason counts. */
export type AbortReason = 'timeout' | 'drain' | 'superseded';

/** Runs the agent until it answers, fails, reaches its time limit or is aborted by a stop. */
export async function runAgent(
  agent: ProfileAgent,
  dispatch: Dispatch,
  controller: AbortController,
  clock: Clock,
  { handover = null, said = [] }: RunParts = {},
): Promise<AgentRun> {
  const reported: { program: ProgramEnd | null; usage: Usage | null } = { program: null, usage: null };
  const request = requestOf(dispatch, controller.signal, { handover, said });
  const outcome = await outcomeOf(agent, request, controller, clock, {
    ended: (program) => void Object.assign(reported, { program }),
    used: (usage) => void Object.assign(reported, { usage }),
  });
  const outputs = handover?.checked() ?? null;
  const { program } = reported;
  const denied = deniedNote(program);
  if (outcome.kind === 'failed')
    return { ...reported, outputs, outcome: { ...outcome, reason: outcome.reason + denied } };
  if (outcome.kind !== 'answered' && outcome.kind !== 'silent') return { ...reported, outputs, outcome };
  // Secrets that an agent was tricked into printing are removed from the text as from outputs.
  const text = handover?.redact(outcome.text) ?? outcome.text;
  if (outputs?.missing !== undefined) {
    const end = { exit_code: null, signal: null, stderr: '', ...program, stdout: storedTail(text, (shown) => shown) };
    return { ...reported, outputs, program: end, outcome: { kind: 'failed', reason: outputs.missing + denied } };
  }
  if (outcome.kind === 'answered') return { ...reported, outputs, outcome: { ...outcome, text } };
  const reason = outputs?.noop === undefined ? outcome.reason : `noop: ${outputs.noop}`;
  return { ...reported, outputs, outcome: { ...outcome, text, reason: reason + denied } };
}

async function outcomeOf(
  agent: ProfileAgent,
  request: AgentRequest,
  controller: AbortController,
  clock: Clock,
  report: RunReport,
): Promise<RunOutcome> {
  const abort = (reason: AbortReason): void => controller.abort(reason);
  const timer = clock.after(agent.timeout_ms, () => abort('timeout'));
  try {
    return readAnswer(await agent.run(request, report));
  } catch (error) {
    const aborted = controller.signal.reason as AbortReason | undefined;
    if (aborted === 'drain' || aborted === 'superseded') return { kind: 'interrupted' };
    if (aborted === 'timeout') return { kind: 'failed', reason: `no answer within ${agent.timeout_ms / 1000} s` };
    if (error instanceof AgentNotStarted) return { kind: 'postponed', reason: error.message };
    if (error instanceof AgentError) return { kind: 'failed', reason: error.message, ...error.failure };
    return { kind: 'failed', reason: 'internal error while running the agent' };
  } finally {
    timer.cancel();
  }
}

function requestOf(dispatch: Dispatch, signal: AbortSignal, { handover, said }: Required<RunParts>): AgentRequest {
  const { toolsets, skills, session, profile, event, delivery_id, job } = dispatch;
  const prompt = supersededNote(dispatch.burst === undefined ? dispatch.superseded : 0) + dispatch.prompt;
  const route = dispatch.route ?? '';
  const ofJob = job === null ? {} : { job };
  const outputs = handover === null ? {} : { outputs: handover };
  const keyed = (dispatch.session_key ?? null) === null ? {} : { continued: true as const };
  const conversation = said.length === 0 ? {} : { said };
  return {
    prompt,
    toolsets,
    skills,
    session,
    profile,
    event,
    delivery_id,
    route,
    ...ofJob,
    ...traceContextOf(dispatch),
    ...conversation,
    ...keyed,
    ...outputs,
    signal,
  };
}

/**
 * Interprets the agent's answer: a text to deliver, or [SILENT]. Case, quotes, Markdown emphasis, code marks and a full stop
 * around the marker do not matter.
 */
export function readAnswer(text: string): Extract<RunOutcome, { readonly kind: 'answered' | 'silent' }> {
  const trimmed = text.trim();
  if (isBlank(text)) return { kind: 'silent', text, reason: 'the agent had nothing to say' };
  const [, fenced = trimmed] = FENCED.exec(trimmed) ?? [];
  const marked = readMarked(fenced.trim());
  return marked?.kind === 'silent' ? { ...marked, text } : (marked ?? { kind: 'answered', text });
}

/** Longest remark, in code points, that is dropped together with the marker. */
const REMARK = 200;
/** A text that is one code block. */
const FENCED = /^`{3,}\w*\n([^`]*)\n`{3,}$/;
/** Emphasis, code marks, quotes, and the marks of a quotation or a list. */
const MARKS = '[*_`~"\'“”‘’„«»>\\s-]{0,8}';
const MARKER = `${MARKS}\\[silent\\]${MARKS}[.!]?${MARKS}`;
const AT_START = new RegExp(`^${MARKER}`, 'i');
const AT_END = new RegExp(`${MARKER}$`, 'i');

/**
 * Looks for `[SILENT]` at the start or the end of the first or the last line; null when there is no marker. With a short
 * remark, nothing is delivered. From a longer text the marker's line is removed; or only the marker, if what else is on its
 * line is long, or the only long part.
 */
function readMarked(text: string): ReturnType<typeof readAnswer> | null {
  const lines = text.split('\n');
  const first = remarkOf(lines[0] ?? '');
  const last = lines.length > 1 ? remarkOf(lines.at(-1) ?? '') : null;
  if (first === null && last === null) return null;
  const others = lines
    .slice(first === null ? 0 : 1, last === null ? undefined : -1)
    .join('\n')
    .trim();
  const parts = [first ?? '', others, last ?? ''];
  const size = parts.reduce((sum, part) => sum + lengthOf(part), 0);
  const reason = `the agent answered ${SILENT}${size === 0 ? '' : ' and a remark'}`;
  if (size <= REMARK) return { kind: 'silent', text, reason };
  const isNeeded = (part: string): boolean =>
    part !== '' && (part === others || lengthOf(part) > REMARK || lengthOf(others) <= REMARK);
  return { kind: 'answered', text: parts.filter(isNeeded).join('\n'), unmarked: true };
}

const lengthOf = (text: string): number => [...text].length;

/** The line without a marker at its start or end; null if it has none there. */
function remarkOf(line: string): string | null {
  const trimmed = line.trim();
  const marker = [AT_START, AT_END].find((place) => place.test(trimmed));
  return marker === undefined ? null : trimmed.replace(marker, '').trim();
}
