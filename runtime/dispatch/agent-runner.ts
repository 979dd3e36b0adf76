/** The interface of agents: it takes a prompt and returns text. */

export interface AgentRequest {
  readonly prompt: string;
  readonly toolsets: readonly string[];
  readonly skills: readonly string[];
  readonly session: string;
  readonly profile: string;
  readonly route: string;
  readonly event: string;
  readonly delivery_id: string;
  /** Aborted on timeout and when a drain times out; the runner then kills the processes that it started. */
  readonly signal: AbortSignal;
}

export interface AgentRunner {
  /**
   * Runs the agent once and returns its text.
   * Rejects with AgentError when the run fails. The message holds no secret and no upstream text, but may hold the last
   * line that an operator's own program wrote to stderr.
   */
  run(request: AgentRequest): Promise<string>;
}

/**
 * An agent of a program that embeds the runtime. Anything that it throws fails the run: an AgentError with its own message,
 * anything else with a fixed message, because its text may hold a secret.
 */
export type RunAgent = (request: AgentRequest) => Promise<string> | string;

/** A failed run, with a reason that tells an operator what to do. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
}
