/** One run of a profile's agent, for the run loop: how it ended, never an exception. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import { supersededNote } from '../store/group.ts';
import type { AgentRequest } from './agent-runner.ts';
import { AgentError } from './agent-runner.ts';
import type { ProfileAgent } from './context.ts';

export type RunOutcome =
  /** `unmarked`: a `[SILENT]` beside a text too long for a remark was taken out. */
  | { readonly kind: 'answered'; readonly text: string; readonly unmarked?: true }
  /** Nothing to deliver: an empty answer, or `[SILENT]`. */
  | { readonly kind: 'silent'; readonly text: string; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The drain gave up waiting; nothing is known against the run itself. */
  | { readonly kind: 'interrupted' };

const SILENT = '[SILENT]';

/** Why a run is aborted: its time limit, or a drain that gave up waiting. The first reason counts. */
export type AbortReason = 'timeout' | 'drain';

/** Runs until it answers, fails or is aborted: by our stop, or here by the agent's own time limit. */
export async function runAgent(
  agent: ProfileAgent,
  dispatch: Dispatch,
  controller: AbortController,
  clock: Clock,
): Promise<RunOutcome> {
  const abort = (reason: AbortReason): void => controller.abort(reason);
  const timer = clock.after(agent.timeout_ms, () => abort('timeout'));
  try {
    return read(await agent.run(requestOf(dispatch, controller.signal)));
  } catch (error) {
    const reason = controller.signal.reason as AbortReason | undefined;
    if (reason === 'drain') return { kind: 'interrupted' };
    if (reason === 'timeout') return { kind: 'failed', reason: `no answer within ${agent.timeout_ms / 1000} s` };
    return { kind: 'failed', reason: error instanceof AgentError ? error.message : 'the agent could not be run' };
  } finally {
    timer.cancel();
  }
}

/** What an agent is asked for a dispatch. */
function requestOf(dispatch: Dispatch, signal: AbortSignal): AgentRequest {
  const { toolsets, skills, session, profile, event, delivery_id } = dispatch;
  const prompt = supersededNote(dispatch.superseded) + dispatch.prompt;
  return { prompt, toolsets, skills, session, profile, event, delivery_id, route: dispatch.route ?? '', signal };
}

function read(text: string): RunOutcome {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'silent', text, reason: 'the agent had nothing to say' };
  if (trimmed === SILENT) return { kind: 'silent', text, reason: `the agent answered ${SILENT}` };
  return readMarked(trimmed) ?? { kind: 'answered', text };
}

/** The longest remark, in code points, that the marker takes away with it. */
const REMARK = 200;

/**
 * `[SILENT]` alone on the first or the last line: with a remark beside it nothing is delivered; a longer text is, without
 * the marker. Null: there is no marker.
 */
function readMarked(text: string): RunOutcome | null {
  const lines = text.split('\n');
  const isMarker = (line: string | undefined): boolean => line?.trim() === SILENT;
  if (!isMarker(lines[0]) && !isMarker(lines.at(-1))) return null;
  const others = lines.slice(isMarker(lines[0]) ? 1 : 0, isMarker(lines.at(-1)) ? -1 : undefined);
  const rest = others.join('\n').trim();
  if ([...rest].length <= REMARK) return { kind: 'silent', text, reason: `the agent answered ${SILENT} and a remark` };
  return { kind: 'answered', text: rest, unmarked: true };
}
