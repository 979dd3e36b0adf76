/** The interface of agents: an agent gets a prompt and returns text. */

import type { TraceContext } from '../platform/log.ts';
import type { SaidTurn } from '../store/queries.ts';
import type { ProgramEnd } from '../store/states.ts';
import type { Usage } from '../store/usage.ts';

/**
 * The input of an agent: one run of a dispatch.
 *
 * @example
 * ```ts
 * import type { AgentRequest } from 'hookwright/runtime';
 *
 * const describe = ({ route, event, prompt }: AgentRequest): string => `${route} ${event}: ${prompt.length} UTF-16 units`;
 * ```
 */
export interface AgentRequest extends TraceContext {
  /** The rendered prompt. Parts of it may come from the sender. */
  readonly prompt: string;
  /** Names of the toolsets that the agent may use. */
  readonly toolsets: readonly string[];
  /** Names of the skills, below the profile's `skills/`. */
  readonly skills: readonly string[];
  /** Name of the conversation. Runs with the same name continue it. */
  readonly session: string;
  /** True if later runs continue its session, which has a key. */
  readonly continued?: true;
  /** Name of the profile. */
  readonly profile: string;
  /** Name of the route; empty if no event started the run of a job. */
  readonly route: string;
  /** Id of the job; absent if the run does not belong to one. */
  readonly job?: string;
  /** The event, as the sender names it. */
  readonly event: string;
  /** Id of the event; the same for a repeated run. */
  readonly delivery_id: string;
  /** The earlier turns of its session, oldest first; absent if there are none, or the agent stores them itself. */
  readonly said?: readonly Pick<SaidTurn, 'prompt' | 'answer'>[];
  /** Accepts the outputs of the run besides its text; absent if its route has no `outputs`. */
  readonly outputs?: OutputHandover;
  /** Aborted on timeout and when a drain times out; the runner then kills the processes that it started. */
  readonly signal: AbortSignal;
}

/** Receives facts of a run besides its text. */
export interface RunReport {
  /** Called when the program has ended; never called by agents without a program. */
  ended(program: ProgramEnd): void;
  /** Called when the agent has reported the usage of the run. */
  used(usage: Usage): void;
}

/** The outputs of a route as a tool that a model can call. */
export interface OutputTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Accepts the outputs of one run. They count once the run has succeeded. */
export interface OutputHandover {
  readonly tools: readonly OutputTool[];
  /** A program that serves the tools over stdio (MCP): its last argument is the file of outputs, beside which it reads the declaration. */
  readonly mcp?: { readonly argv: readonly [string, ...string[]]; readonly declaration: string };
  /**
   * Replaces all earlier outputs of the run.
   * @param lines each a JSON object: `output` is its name, the other members are its fields
   */
  take(lines: readonly string[]): void;
  /** Records why the outputs cannot be read. */
  refuse(reason: string): void;
}

export interface AgentRunner {
  /**
   * Runs the agent once and returns its text. Rejects with AgentError when the run fails. The message contains no
   * secret and no upstream text, but may contain the last line that an operator's own program printed.
   * @param report called with facts of the run before the result, also when the run fails
   */
  run(request: AgentRequest, report?: RunReport): Promise<string>;
}

/**
 * An agent of a program that embeds the runtime. Anything that it throws fails the run: an AgentError with its own message,
 * anything else with a fixed message, because its text may hold a secret.
 *
 * @param request the prompt and its circumstances; `signal` is aborted on timeout and when a drain times out
 * @returns the answer, which is delivered to the targets of the route
 *
 * @example
 * ```ts
 * import type { RunAgent } from 'hookwright/runtime';
 *
 * const run: RunAgent = async ({ prompt, signal }) => {
 *   signal.throwIfAborted();
 *   return `answer to ${prompt}`;
 * };
 * ```
 */
export type RunAgent = (request: AgentRequest) => Promise<string> | string;

/**
 * A failed run. Its message is logged and stored: it says what an operator can do, and contains no secret.
 *
 * @example
 * ```ts
 * import type { RunAgent } from 'hookwright/runtime';
 * import { AgentError } from 'hookwright/runtime';
 *
 * const run: RunAgent = () => {
 *   throw new AgentError('the model is not loaded: start it with `models up`');
 * };
 * ```
 */
export class AgentError extends Error {
  override readonly name: string = 'AgentError';
  readonly failure: AgentFailure;

  constructor(message: string, failure: AgentFailure = {}) {
    super(message);
    this.failure = failure;
  }
}

/** How a failed run is retried, if its agent has further attempts. */
export interface AgentFailure {
  /** True if no other attempt can succeed. */
  readonly permanent?: boolean;
  /** Minimum wait before the next attempt, in ms; absent or null: the usual one. */
  readonly retryAfterMs?: number | null;
}

/** The machine lacks something that the run needs, such as disk space. The run has not begun, and is retried later. */
export class AgentNotStarted extends AgentError {
  override readonly name = 'AgentNotStarted';
}
