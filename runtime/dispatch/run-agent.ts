/** One run of a profile's agent, for the run loop: how it ended, never an exception. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Clock } from '../clock.ts';
import { supersededNote } from '../coalesce/group.ts';
import { AgentError } from './agent-runner.ts';
import type { ProfileAgent } from './context.ts';

export type RunOutcome =
  | { readonly kind: 'answered'; readonly text: string }
  /** Nothing to deliver: an empty answer, or `[SILENT]`. */
  | { readonly kind: 'silent'; readonly text: string; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The drain gave up waiting; nothing is known against the run itself. */
  | { readonly kind: 'interrupted' };

const SILENT = '[SILENT]';

/** `drain` is aborted when we stop; the agent's own time limit comes on top. */
export async function runAgent(
  agent: ProfileAgent,
  dispatch: Dispatch,
  drain: AbortSignal,
  clock: Clock,
): Promise<RunOutcome> {
  const controller = new AbortController();
  const cut = (): void => controller.abort();
  drain.addEventListener('abort', cut, { once: true });
  const timer = clock.after(agent.timeout_ms, cut);
  try {
    const { toolsets, skills, session, profile, event, delivery_id } = dispatch;
    const text = await agent.run({
      prompt: supersededNote(dispatch.superseded) + dispatch.prompt,
      toolsets,
      skills,
      session,
      profile,
      route: dispatch.route ?? '',
      event,
      delivery_id,
      signal: controller.signal,
    });
    return read(text);
  } catch (error) {
    if (drain.aborted) return { kind: 'interrupted' };
    if (controller.signal.aborted) return { kind: 'failed', reason: `no answer within ${agent.timeout_ms / 1000} s` };
    return { kind: 'failed', reason: error instanceof AgentError ? error.message : 'the agent could not be run' };
  } finally {
    timer.cancel();
    drain.removeEventListener('abort', cut);
  }
}

function read(text: string): RunOutcome {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'silent', text, reason: 'the agent had nothing to say' };
  if (trimmed === SILENT) return { kind: 'silent', text, reason: `the agent answered ${SILENT}` };
  return { kind: 'answered', text };
}
