/**
 * Doubles of agent programs, as functions in place of their processes. They print what the real ones print (recorded in November
 * 2026), keep transcripts where the real ones do, and find them only under the same conditions.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessRequest, ProcessResult } from '../../runtime/platform/process/run-process.ts';

export interface Started extends ProcessRequest {
  /** What was said in the conversation, with this prompt. */
  readonly said: readonly string[];
}

const exit = (code: number, stdout: string, stderr = ''): ProcessResult => ({
  kind: 'exit',
  code,
  signal: null,
  stdout: Buffer.from(stdout),
  stderr,
});

const after = (argv: readonly string[], flag: string): string | undefined =>
  argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined;

/** What a double prints for a prompt, given all prompts of its conversation. */
type Answer = (prompt: string, said: readonly string[]) => ProcessResult;

function transcript(path: string, prompt: string, isKept: boolean): readonly string[] {
  const earlier = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as string[]) : [];
  const said = [...earlier, prompt];
  if (isKept) writeFileSync(path, JSON.stringify(said));
  return said;
}

/** Claude Code finds a transcript by its id and the folder that it was started in, and uses an id only once for a new one. */
export function claudeCode(answer: Answer = (prompt, said) => exit(0, claudeResult(`${said.length}: ${prompt}`))) {
  return (request: ProcessRequest): ProcessResult => {
    const { argv, cwd, env, stdin } = request;
    const folder = join(String(env.CLAUDE_CONFIG_DIR), 'projects', cwd.replaceAll(/[^A-Za-z0-9]/g, '-'));
    mkdirSync(folder, { recursive: true });
    const [first, next] = [after(argv, '--session-id'), after(argv, '--resume')];
    const path = join(folder, `${first ?? next ?? 'none'}.jsonl`);
    if (first !== undefined && existsSync(path)) return exit(1, '', `Error: Session ID ${first} is already in use.\n`);
    if (next !== undefined && !existsSync(path)) return exit(1, '', `No conversation found with session ID: ${next}\n`);
    const isKept = !argv.includes('--no-session-persistence');
    return answer(String(stdin), transcript(path, String(stdin), isKept));
  };
}

export const claudeResult = (result: string, changed: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    type: 'result',
    subtype: 'success',
    is_error: false,
    api_error_status: null,
    num_turns: 1,
    result,
    stop_reason: 'end_turn',
    total_cost_usd: 0.25,
    usage: { input_tokens: 100, cache_creation_input_tokens: 20, cache_read_input_tokens: 30, output_tokens: 7 },
    modelUsage: {
      large: {
        inputTokens: 100,
        outputTokens: 7,
        cacheReadInputTokens: 30,
        cacheCreationInputTokens: 20,
        costUSD: 0.2,
      },
      small: { inputTokens: 50, outputTokens: 3, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, costUSD: 0.05 },
    },
    permission_denials: [],
    ...changed,
  });

/** Codex resumes a thread that it has printed, and then reports the usage of the whole thread. */
export function codex(answer: (prompt: string, said: readonly string[]) => readonly unknown[] = codexAnswer) {
  let threads = 0;
  return (request: ProcessRequest): ProcessResult => {
    const { argv, env, stdin } = request;
    const folder = join(String(env.CODEX_HOME), 'sessions');
    mkdirSync(folder, { recursive: true });
    // A real one leaves settings beside its sessions, which a later run would obey.
    const settings = join(String(env.CODEX_HOME), 'AGENTS.md');
    if (existsSync(settings)) return exit(1, '', 'it found the AGENTS.md of an earlier run');
    writeFileSync(settings, 'Do something else.');
    const next = after(argv, 'resume');
    if (next !== undefined && !readdirSync(folder).includes(next))
      return exit(1, '', `Error: thread/resume failed: no rollout found for thread id ${next} (code -32600)\n`);
    const id = next ?? `thread-${++threads}`;
    const said = transcript(join(folder, id), String(stdin), !argv.includes('--ephemeral'));
    const lines = [{ type: 'thread.started', thread_id: id }, { type: 'turn.started' }, ...answer(String(stdin), said)];
    return exit(0, lines.map((line) => JSON.stringify(line)).join('\n'), 'WARN: a line of its log\n');
  };
}

export const codexItem = (type: string, more: Readonly<Record<string, unknown>>) => ({
  type: 'item.completed',
  item: { id: 'item_1', type, ...more },
});

export const codexEnd = (turns = 1) => ({
  type: 'turn.completed',
  usage: { input_tokens: 200 * turns, cached_input_tokens: 50, output_tokens: 9 * turns, reasoning_output_tokens: 4 },
});

const codexAnswer = (prompt: string, said: readonly string[]): readonly unknown[] => [
  codexItem('agent_message', { text: `${said.length}: ${prompt}` }),
  codexEnd(said.length),
];
