/** The one seam to agents: a prompt goes in, text comes out. */

export interface AgentRequest {
  readonly prompt: string;
  readonly toolsets: readonly string[];
  readonly skills: readonly string[];
  readonly session: string;
  readonly profile: string;
  readonly route: string;
  readonly event: string;
  readonly delivery_id: string;
  /** Aborted on timeout and when a drain gives up; the runner then kills what it started. */
  readonly signal: AbortSignal;
}

export interface AgentRunner {
  /**
   * Runs the agent once and returns its text.
   * @throws AgentError when the run failed; its message holds no secret and no upstream text, but perhaps the last line
   * that an operator's own program wrote to stderr.
   */
  run(request: AgentRequest): Promise<string>;
}

/**
 * An agent of a program that embeds the runtime. What it throws fails the run: an AgentError with its own message, anything
 * else with a fixed one, because its text may hold a secret.
 */
export type RunAgent = (request: AgentRequest) => Promise<string> | string;

/** A failed run, with a reason an operator can act on. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
}
