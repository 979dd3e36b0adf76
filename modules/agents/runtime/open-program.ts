/** Starts a known program: fills in the values of this run, prepares its private folders, and reads its output. */
import { chmod, lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tryParseJson } from '../../../base/files.ts';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import type { OpenProgram, PrintedAnswer } from '../../../runtime/dispatch/agents/known-program.ts';
import type { ProcessResult } from '../../../runtime/platform/process/run-process.ts';
import type { EntryValue, ProgramPlan } from '../../../schemas/generated/types.ts';
import type { PlaceholderValues } from '../fill.ts';
import { fillPlaceholders, textOrJson } from '../fill.ts';
import type { Conversation } from './conversations.ts';
import { openConversation } from './conversations.ts';
import { canMatter, readPrinted } from './printed-result.ts';

export const openProgram: OpenProgram = (plan, context) => ({
  async start(request, args, server = null, own = {}) {
    const conversation = await openConversation(plan, context, request);
    const { state, id } = conversation;
    const tools = toolNames(plan, request.toolsets);
    const values = {
      state,
      tools,
      toolsets: tools.join(','),
      id: id ?? undefined,
      mcp_command: server?.command,
      mcp_args: server?.args,
      mcp_argv: server === null ? undefined : [server.command, ...server.args],
    };
    const mcp = server === null ? {} : (plan.mcp ?? {});
    await conversation.prepare(() => writeFiles(state, merged(plan.files, mcp.files), values));
    const lists = {
      '{conversation}': conversation.args,
      '{mcp}': (mcp.arguments ?? []).map((value) => textOrJson(fillPlaceholders(value, values) ?? '')),
    };
    return {
      args: args.flatMap((argument): readonly string[] => {
        if (Object.hasOwn(lists, argument)) return lists[argument as keyof typeof lists];
        return [argument.replaceAll('{toolsets}', values.toolsets).replaceAll('{state}', state)];
      }),
      prompt: harmless(plan, request.prompt),
      env: environment(merged({ ...plan.env, ...settingsIn(own, mcp.env) }, mcp.env), values),
      cwd: conversation.cwd,
      writable: conversation.writable,
      keepLine: (line) => canMatter(line, plan.output),
      end: (result) => end(plan, conversation, result),
    };
  },
});

function toolNames({ toolsets }: ProgramPlan, names: AgentRequest['toolsets']): readonly string[] {
  if (toolsets === undefined) return names;
  const tools = names.flatMap((name) => (Object.hasOwn(toolsets.names, name) ? (toolsets.names[name] ?? []) : []));
  const { none = [] } = toolsets;
  return tools.length === 0 ? [none].flat() : [...new Set(tools)];
}

/** A prompt that begins with the program's sign for commands gets a line before it. */
const harmless = ({ commands }: ProgramPlan, prompt: string): string =>
  commands !== undefined && prompt.trimStart().startsWith(commands) ? `The request is:\n${prompt}` : prompt;

type Entries = Readonly<Record<string, EntryValue>>;

const isMap = (value: unknown): value is Entries =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The settings in JSON that the configuration writes itself, in variables that outputs are added to. */
function settingsIn(own: Readonly<Record<string, string>>, added: Entries = {}): Entries {
  const written = Object.keys(added).map((name) => [name, tryParseJson(own[name] ?? '')] as const);
  return Object.fromEntries(written.filter((entry): entry is readonly [string, Entries] => isMap(entry[1])));
}

/** Members of the second are added to those of the first, at any depth; other values replace them. */
function merged(first: Entries = {}, second: Entries = {}): Entries {
  const added = Object.entries(second).map(([name, value]) => {
    const own = first[name];
    return [name, isMap(own) && isMap(value) ? merged(own, value) : value] as const;
  });
  return { ...first, ...Object.fromEntries(added) };
}

function environment(entries: Entries, values: PlaceholderValues): Record<string, string> {
  const filled = Object.entries(entries).map(([name, value]) => [name, fillPlaceholders(value, values)] as const);
  return Object.fromEntries(
    filled.flatMap(([name, value]) => (value === undefined ? [] : [[name, textOrJson(value)] as const])),
  );
}

/** An earlier run of the conversation may have left a link or a pipe in place of a file or of its folder. */
async function writeFiles(folder: string, entries: Entries, values: PlaceholderValues): Promise<void> {
  for (const [path, value] of Object.entries(environment(entries, values))) {
    const parents = path.split('/').slice(0, -1);
    for (const depth of parents.keys()) {
      const parent = join(folder, ...parents.slice(0, depth + 1));
      if ((await lstat(parent).catch(() => null))?.isDirectory() !== true) await rm(parent, { force: true });
      await mkdir(parent, { recursive: true, mode: 0o700 });
      await chmod(parent, 0o700);
    }
    await rm(join(folder, path), { recursive: true, force: true });
    await writeFile(join(folder, path), value, { mode: 0o600, flag: 'wx' });
  }
}

/** Larger answers fail, as those of other programs. */
const MAX_ANSWER_BYTES = 1_048_576;

async function end(plan: ProgramPlan, conversation: Conversation, result: ProcessResult): Promise<PrintedAnswer> {
  const text = 'stdout' in result && result.stdout !== undefined ? result.stdout.toString('utf8') : '';
  const { answer: found, reason, status, id, usage, said } = readPrinted([text, result.stderr], plan.output);
  const isTooLong = found !== null && Buffer.byteLength(found) > MAX_ANSWER_BYTES;
  const answer = isTooLong ? null : found;
  const succeeded = result.kind === 'exit' && result.code === 0 && answer !== null;
  const { lost } = plan.conversation ?? {};
  const isLost = lost !== undefined && !succeeded && said.includes(lost);
  const own = await conversation.end({ succeeded, isLost, id, usage });
  const permanent = status !== null && status >= 400 && status < 500 && ![408, 409, 429].includes(status);
  return {
    text: answer,
    usage: own,
    reason: isTooLong
      ? `it is longer than ${MAX_ANSWER_BYTES} bytes`
      : isLost
        ? 'it has lost the conversation; the next run begins a new one'
        : reason,
    permanent,
  };
}
