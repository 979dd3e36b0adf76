/** One run of a profile's agent, for the run loop: how it ended, never an exception. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Clock } from '../clock.ts';
import { supersededNote } from '../coalesce/group.ts';
import type { AgentRequest } from './agent-runner.ts';
import { AgentError } from './agent-runner.ts';
import type { ProfileAgent } from './context.ts';
import type { RunCut } from './run-cut.ts';

export type RunOutcome =
  | { readonly kind: 'answered'; readonly text: string }
  /** Nothing to deliver: an empty answer, or `[SILENT]`. */
  | { readonly kind: 'silent'; readonly text: string; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The drain gave up waiting; nothing is known against the run itself. */
  | { readonly kind: 'interrupted' };

const SILENT = '[SILENT]';

/** Runs until it answers, fails or is `cut`: by our stop, or here by the agent's own time limit. */
export async function runAgent(
  agent: ProfileAgent,
  dispatch: Dispatch,
  cut: RunCut,
  clock: Clock,
): Promise<RunOutcome> {
  const timer = clock.after(agent.timeout_ms, () => cut.cut('timeout'));
  try {
    return read(await agent.run(new DispatchRun(dispatch, cut)));
  } catch (error) {
    if (cut.reason === 'drain') return { kind: 'interrupted' };
    if (cut.reason === 'timeout') return { kind: 'failed', reason: `no answer within ${agent.timeout_ms / 1000} s` };
    return { kind: 'failed', reason: error instanceof AgentError ? error.message : 'the agent could not be run' };
  } finally {
    timer.cancel();
  }
}

/** What an agent is asked for a dispatch. */
class DispatchRun implements AgentRequest {
  readonly prompt: string;
  readonly toolsets: readonly string[];
  readonly skills: readonly string[];
  readonly session: string;
  readonly profile: string;
  readonly route: string;
  readonly event: string;
  readonly delivery_id: string;
  readonly #cut: RunCut;

  constructor(dispatch: Dispatch, cut: RunCut) {
    this.prompt = dispatch.superseded === 0 ? dispatch.prompt : supersededNote(dispatch.superseded) + dispatch.prompt;
    this.toolsets = dispatch.toolsets;
    this.skills = dispatch.skills;
    this.session = dispatch.session;
    this.profile = dispatch.profile;
    this.route = dispatch.route ?? '';
    this.event = dispatch.event;
    this.delivery_id = dispatch.delivery_id;
    this.#cut = cut;
  }

  get signal(): AbortSignal {
    return this.#cut.signal;
  }
}

function read(text: string): RunOutcome {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'silent', text, reason: 'the agent had nothing to say' };
  if (trimmed === SILENT) return { kind: 'silent', text, reason: `the agent answered ${SILENT}` };
  return { kind: 'answered', text };
}
