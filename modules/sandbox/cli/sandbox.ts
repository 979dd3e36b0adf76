/** `hookwright sandbox try`: runs a command or a shell in the sandbox of an agent, to test its lists. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { codeOf } from '../../../base/errors.ts';
import { agentPlan, DEFAULT_PROFILE } from '../../../base/names.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import { runtimeParts } from '../../../cli/base/module.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { command, optionalArgument, restArguments, text } from '../../../cli/command-line/command.ts';
import { configOption } from '../../../cli/command-line/options.ts';
import { compileRequest, createCompileRequest } from '../../../cli/compile/compile-files.ts';
import { guardedFiles } from '../../../cli/files.ts';
import { printNote } from '../../../cli/output/print.ts';
import { createServerLog } from '../../../cli/serve/server-log.ts';
import { HttpPool } from '../../../runtime/deliver/http-pool.ts';
import { Redactor } from '../../../runtime/deliver/redact.ts';
import { AgentError } from '../../../runtime/dispatch/agent-runner.ts';
import { createAgents } from '../../../runtime/dispatch/agents/create-agents.ts';
import { WorkFolders } from '../../../runtime/dispatch/agents/work-folders.ts';
import type { RunProcess } from '../../../runtime/platform/process/run-process.ts';
import type { SecretResolver } from '../../../runtime/platform/secrets.ts';
import { collectSecretRefs, createSecrets, SecretError } from '../../../runtime/platform/secrets.ts';
import { createConfinement } from '../../../runtime/service/parts.ts';
import type { ProgramEnd } from '../../../runtime/store/states.ts';
import type { CommandAgentPlan, RouteTable } from '../../../schemas/generated/types.ts';

const options = { profile: text('name', 'Profile of the agent instead of the default one'), config: configOption };
const args = { agent: optionalArgument('agent'), command: restArguments('command') };

type TryArgs = ValuesOf<typeof options> & ValuesOf<typeof args>;

export const sandboxTryCommand = command({
  options,
  args,
  async run(context, input) {
    const compiled = compileRequest(await createCompileRequest(context, { configs: input.config }));
    if (compiled.output === null)
      throw new CliError('the configuration has errors', 'to see the errors: hookwright lint');
    const files = compiled.files.map((file) => resolve(context.cwd, file));
    return tryIn(context, input, compiled.output.table, files);
  },
});

/** @returns the exit code of the command */
async function tryIn(
  context: CliContext,
  input: TryArgs,
  table: RouteTable,
  files: readonly string[],
): Promise<number> {
  const { home, env, modules } = context;
  const { profile = DEFAULT_PROFILE } = input;
  const name = input.agent === undefined || input.agent === 'default' ? null : input.agent;
  const own = Object.hasOwn(table.profiles, profile) ? table.profiles[profile] : undefined;
  const plan = own === undefined ? null : agentPlan(own, name);
  if (own === undefined || plan === null) {
    const hint = name === null ? [] : [`write a command after \`--\`: hookwright sandbox try -- ${name}`];
    throw new CliError(`unknown agent ${name ?? 'default'} in profile ${profile}`, ...hint);
  }
  if (plan.kind !== 'command' || plan.sandbox === null)
    throw new CliError('this agent has no sandbox', 'add `sandbox:` to the agent, or to `gateway`');
  const tried: CommandAgentPlan = {
    ...plan,
    argv: input.command.length > 0 ? [...input.command] : [env.SHELL ?? 'sh'],
  };
  const changed = name === null ? { ...own, agent: tried } : { ...own, agents: { ...own.agents, [name]: tried } };
  const log = createServerLog(context);
  const { confine, keep } = createConfinement(runtimeParts(modules), {
    run: inTerminal,
    ...guardedFiles(context, table, files),
    log,
    sweep: false,
  });
  await keep(table, Object.values(table.routes));
  const secrets = createSecrets(context);
  const wanted = new Set(collectSecretRefs(plan));
  // Other programs are not started, so their missing secrets do not matter.
  const resolve: SecretResolver['resolve'] = (ref) => (wanted.has(ref) ? secrets.resolve(ref) : 'x');
  const ends: ProgramEnd[] = [];
  const report = { ended: (program: ProgramEnd) => void ends.push(program), used: () => {} };
  const request = { prompt: '', toolsets: [], skills: [], session: '', profile, route: '', event: '', delivery_id: '' };
  const listening = context.onSignal(() => {});
  try {
    const agents = createAgents(
      { ...table, profiles: { ...table.profiles, [profile]: changed } },
      {
        home,
        env,
        clock: context.clock,
        confine,
        http: new HttpPool(),
        secrets: { resolve },
        log,
        readText: () => Promise.resolve(''),
        redact: new Redactor().redact,
        workFolders: new WorkFolders(log),
      },
    );
    await agents(profile, name)?.run({ ...request, signal: new AbortController().signal }, report);
  } catch (error) {
    if (error instanceof SecretError) throw new CliError(error.message);
    if (!(error instanceof AgentError)) throw error;
    // A command that fails has printed why; one that did not start has not.
    if (exitOf(ends) === null) throw new CliError(error.message);
  } finally {
    listening();
  }
  const denied = ends.flatMap((end) => end.denied ?? []);
  if (denied.length > 0) printNote(context, `denied: ${denied.join(', ')}`);
  return exitOf(ends) ?? 0;
}

const exitOf = ([end]: readonly ProgramEnd[]): number | null => end?.exit_code ?? null;

/** Passes the terminal, or whatever this command was started with, to the program. */
const inTerminal: RunProcess = ({ argv: [program = '', ...rest], cwd, env }) =>
  new Promise((settle) => {
    const child = spawn(program, rest, { cwd, env: { ...env }, stdio: 'inherit' });
    child.on('error', (error) => settle({ kind: 'spawn_failed', code: codeOf(error) ?? 'UNKNOWN', stderr: '' }));
    child.on('exit', (code, signal) => settle({ kind: 'exit', code, signal, stdout: Buffer.alloc(0), stderr: '' }));
  });
