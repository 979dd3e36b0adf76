/**
 * The agent as a program: prompt on stdin, answer on stdout, exit code 0 for success (decisions §5).
 *
 * An agent reads untrusted text, so it must not have the secrets that sign or send in the gateway's name. Its
 * environment contains only allowed variables and those of `agent.env`. It has its own working folder
 * (work-folders.ts), not the home, which contains the store and `.env`. This does not confine the agent, which runs as
 * the same user: a `sandbox` does.
 */

import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { codeOf } from '../../../base/errors.ts';
import { readRegularText, tryParseJson } from '../../../base/files.ts';
import type { CommandAgentPlan } from '../../../schemas/generated/types.ts';
import type { Clock } from '../../platform/clock.ts';
import { printableStart, traceHeaders } from '../../platform/log.ts';
import { allowedEnvironment } from '../../platform/process/environment.ts';
import type { ProcessResult } from '../../platform/process/run-process.ts';
import { isTemporaryLack, lackOf } from '../../platform/process/run-process.ts';
import type { Confine } from '../../platform/process/sandbox.ts';
import { storedTail, tailText } from '../../platform/process/stderr-tail.ts';
import type { SecretResolver } from '../../platform/secrets.ts';
import { explainSecrets, SecretError } from '../../platform/secrets.ts';
import type { ProgramEnd } from '../../store/states.ts';
import type { Usage } from '../../store/usage.ts';
import { toUsage } from '../../store/usage.ts';
import type { AgentRequest, AgentRunner } from '../agent-runner.ts';
import { AgentError, AgentNotStarted } from '../agent-runner.ts';
import type { OpenProgram, PrintedAnswer, ProgramRun } from './known-program.ts';
import { openOutputs, usesServer } from './outputs-folder.ts';
import { readOutput } from './printed.ts';
import { locateProgram } from './program.ts';
import type { WorkFolder, WorkFolders } from './work-folders.ts';

interface CommandAgentContext {
  readonly confine: Confine;
  /** Folders that the other agents of the table work in. */
  readonly others: readonly string[];
  /** Other paths that agents of the table can write, as in their plans. */
  readonly written: readonly string[];
  /** The process environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that secret references name. */
  readonly hidden: ReadonlySet<string>;
  /** Resolves the references of `agent.env`. */
  readonly secrets: SecretResolver;
  /** `<home_dir>`. */
  readonly home: string;
  /** The profile's home. */
  readonly folder: string;
  /** Replaces secrets in the stderr of a program. */
  readonly redact: (text: string) => string;
  readonly workFolders: Pick<WorkFolders, 'create' | 'discard'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Opens the program of `use`; absent: the command is started as it is. */
  readonly openProgram?: OpenProgram | null;
}

const MAX_STDOUT_BYTES = 1_048_576;
/** Of the lines that matter: the last one of some programs repeats all messages of the run. */
const MAX_LINES_BYTES = 8 * MAX_STDOUT_BYTES;
/** The program of a run that could not be prepared. */
const NOT_RUN: ProcessResult = { kind: 'spawn_failed', code: 'ECANCELED', stderr: '' };
const PLACEHOLDER = /\{(toolsets|session|route|profile|outputs_mcp)\}/g;

/** @throws SecretError when a reference of `agent.env` cannot be resolved */
export function createCommandAgent(plan: CommandAgentPlan, context: CommandAgentContext): AgentRunner {
  const inherited = allowedEnvironment(context.env, context.hidden);
  const own = Object.fromEntries(
    Object.entries(plan.env).map(([name, ref]) => {
      const read = (): string => context.secrets.resolve(ref, name);
      return [name, explainSecrets(read, (reason) => new SecretError(`env.${name}: ${reason}`))];
    }),
  );
  const [program = '', ...rest] = plan.argv;
  const located = locateProgram(program, context.folder);
  const known = plan.program === undefined ? null : (context.openProgram?.(plan.program, context) ?? null);
  const { others, written } = context;
  const run = context.confine(plan.sandbox ?? null, { hidden: others, written, onlyTo: plan.only_to ?? {} });
  const runIn = async (folder: string, request: AgentRequest) => {
    const isHanding = request.outputs !== undefined || usesServer(rest);
    const outputs = isHanding ? await openOutputs(request, context) : null;
    let started: ProgramRun | null = null;
    try {
      started = (await known?.start(request, rest, outputs?.server ?? null, own)) ?? null;
      const cwd = plan.cwd === null && plan.work === 'run' ? (started?.cwd ?? folder) : folder;
      const usageFile = usagePath(folder);
      const { stdin, ...parts } = compose([located, ...(started?.args ?? rest)], request, outputs?.config ?? '');
      const result = await run({
        argv: parts.argv,
        cwd,
        env: {
          ...inherited,
          ...own,
          ...started?.env,
          ...parts.env,
          ...outputs?.env,
          HOOKWRIGHT_HOME: context.home,
          HOOKWRIGHT_USAGE_FILE: usageFile,
        },
        stdin: started?.prompt ?? stdin,
        timeoutMs: plan.timeout_seconds * 1000,
        ...(started === null
          ? { maxStdoutBytes: MAX_STDOUT_BYTES }
          : { maxStdoutBytes: MAX_LINES_BYTES, keepLine: started.keepLine }),
        signal: request.signal,
        writable: [folder, ...(outputs === null ? [] : [outputs.folder]), ...(started?.writable ?? [])],
        readable: [...(isAbsolute(located) ? [located] : []), ...(outputs?.readable ?? [])],
      });
      return { started, result, reportedUsage: await takeUsage(usageFile) };
    } catch (error) {
      await started?.end(NOT_RUN);
      throw error;
    } finally {
      await outputs?.close();
    }
  };
  return {
    async run(request, report) {
      const folder = await openFolder(plan, context, request.route);
      const { started, result, reportedUsage } = await runIn(folder.path, request).finally(() => folder.release());
      const printedAnswer: PrintedAnswer = started === null ? readOutput(plan, result) : await started.end(result);
      const lack = lackOf(result);
      if (lack !== null) throw new AgentNotStarted(`${program}: ${lack}`);
      const { text, usage, permanent = false } = printedAnswer;
      const answer = result.kind === 'exit' && result.code === 0 ? text : null;
      const end = endOf(result, context.redact);
      const printed = answer === null && end.stderr.trim() === '' ? printedBy(result, context.redact) : '';
      report?.ended(printed === '' ? end : { ...end, stdout: printed });
      if ((reportedUsage ?? usage) !== null) report?.used((reportedUsage ?? usage) as Usage);
      if (answer !== null) return answer;
      // What a known program logs beside a run that has ended well is not why there is no answer.
      const isQuiet = started !== null && result.kind === 'exit' && result.code === 0;
      const said = context.redact(printedAnswer.reason ?? '');
      const reason = said || isQuiet ? said : lastLine(end.stderr) || lastLine(context.redact(text ?? '') || printed);
      throw new AgentError(explain(result, plan, reason), permanent ? { permanent } : {});
    },
  };
}

/** The configured folder, which must exist, or one of the profile's work folders. */
async function openFolder(plan: CommandAgentPlan, context: CommandAgentContext, route: string): Promise<WorkFolder> {
  const path = configuredFolder(plan, context);
  try {
    if (path === null) return await context.workFolders.create(plan.work, context.folder, route);
    if ((await stat(path)).isDirectory()) return { path, release: () => Promise.resolve() };
  } catch (error) {
    const reason = `the folder ${path ?? join(context.folder, 'work')} cannot be used (${codeOf(error) ?? String(error)})`;
    throw isTemporaryLack(error) ? new AgentNotStarted(reason) : new AgentError(reason);
  }
  throw new AgentError(`${path} is not a folder`);
}

/** The folder that `cwd` names; null: none. */
export function configuredFolder(
  { cwd }: Pick<CommandAgentPlan, 'cwd'>,
  { folder, env }: Pick<CommandAgentContext, 'folder' | 'env'>,
): string | null {
  if (cwd?.startsWith('~/')) return join(env.HOME || homedir(), cwd.slice(2));
  return cwd === null || isAbsolute(cwd) ? cwd : join(folder, cwd);
}

function endOf(result: ProcessResult, redact: (text: string) => string): ProgramEnd {
  const [exit_code, signal] = result.kind === 'exit' ? [result.code, result.signal] : [null, KILLED[result.kind]];
  const denied = 'denied' in result && result.denied !== undefined ? { denied: result.denied.map(redact) } : {};
  return { exit_code, signal, stderr: storedTail(result.stderr, redact), ...denied };
}

/** The end of what a program printed that wrote nothing to stderr: many report their errors there. */
const printedBy = (result: ProcessResult, redact: (text: string) => string): string =>
  'stdout' in result ? storedTail(tailText(result.stdout ?? Buffer.alloc(0)), redact).trim() : '';

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.trim() ?? '';

/** The signal that ended a program which did not exit by itself. */
const KILLED = { timeout: 'SIGKILL', overflow: 'SIGKILL', aborted: 'SIGKILL', spawn_failed: null, input_failed: null };

/** @param outputs_mcp the file that describes the server of its outputs */
function compose(argv: readonly string[], request: AgentRequest, outputs_mcp: string) {
  // Neither an argument nor a variable can contain a NUL, but a delivery id from a payload can.
  const plain = (text: string): string => text.replaceAll('\0', '');
  const toolsets = request.toolsets.join(',');
  const session = plain(request.session);
  const { route, profile } = request;
  const values: Readonly<Record<string, string>> = { toolsets, session, route, profile, outputs_mcp };
  return {
    argv: argv.map((entry) => {
      const filled = entry.replace(PLACEHOLDER, (_, name: string) => values[name] ?? '');
      // A program would read it as an option, which the configuration has not chosen.
      if (!filled.startsWith('-') || entry.startsWith('-')) return filled;
      throw new AgentError(
        `with its value, the argument ${entry} begins with \`-\` and would be read as an option: write it as --name=${entry}`,
      );
    }),
    stdin: request.prompt,
    env: {
      HOOKWRIGHT_PROFILE: profile,
      HOOKWRIGHT_ROUTE: route,
      HOOKWRIGHT_EVENT: plain(request.event),
      HOOKWRIGHT_DELIVERY_ID: plain(request.delivery_id),
      HOOKWRIGHT_SESSION: session,
      HOOKWRIGHT_TOOLSETS: toolsets,
      HOOKWRIGHT_SKILLS: request.skills.join(','),
      ...Object.fromEntries(Object.entries(traceHeaders(request)).map(([name, value]) => [name.toUpperCase(), value])),
    },
  };
}

/** @param last the last line of what the program wrote; empty if there is none */
function explain(result: ProcessResult, plan: CommandAgentPlan, last: string): string {
  const [program = ''] = plan.argv;
  switch (result.kind) {
    case 'spawn_failed':
    case 'input_failed':
      return `${program} cannot be started: ${result.code}`;
    case 'timeout':
      return `${program} did not finish within ${plan.timeout_seconds} s`;
    case 'overflow':
      return `${program} printed more than ${plan.program === undefined ? MAX_STDOUT_BYTES : MAX_LINES_BYTES} bytes`;
    case 'aborted':
      return `${program} was stopped`;
    case 'exit': {
      if (result.code === 0 && plan.program !== undefined)
        return `${program} gave no complete answer${last === '' ? '' : `: ${printableStart(last, 200)}`}`;
      if (result.code === 0)
        return `${program} printed no JSON with a string at answer_path (${plan.answer_path?.join('.')})`;
      const how = result.code === null ? `was terminated by ${result.signal}` : `exited with ${result.code}`;
      return last === '' ? `${program} ${how}` : `${program} ${how}: ${printableStart(last, 200)}`;
    }
  }
}

const MAX_USAGE_BYTES = 64 * 1024;

/** A unique path. @param folder the folder that the program works in */
const usagePath = (folder: string): string => join(folder, `.hookwright-usage-${randomUUID()}.json`);

/** Reads the file and removes it; null if it does not exist or reports no usage. Never rejects. */
async function takeUsage(path: string): Promise<Usage | null> {
  const text = await readRegularText(path, MAX_USAGE_BYTES).catch(() => null);
  if (text === null) return null;
  await rm(path, { force: true }).catch(() => {});
  const fileContent = tryParseJson(text);
  if (typeof fileContent !== 'object' || fileContent === null) return null;
  const { input_tokens, output_tokens, cost } = fileContent as Readonly<Record<string, unknown>>;
  return toUsage(input_tokens, output_tokens, cost);
}
