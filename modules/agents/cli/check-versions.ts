/** Compares the versions of known programs with those that their entries were tested with, for `doctor`. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentLabel, agentPlans } from '../../../base/names.ts';
import type { Check } from '../../../cli/base/check.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { locateProgram, missingAgent } from '../../../runtime/dispatch/agents/program.ts';
import { allowedEnvironment } from '../../../runtime/platform/process/environment.ts';
import { runProcess } from '../../../runtime/platform/process/run-process.ts';
import type { ProgramVersionPlan, RouteTable } from '../../../schemas/generated/types.ts';

/** One check for each agent with `use` whose program exists. */
export async function checkVersions(context: CliContext, { profiles }: RouteTable): Promise<readonly Check[]> {
  const agents = Object.values(profiles).flatMap((profile) => agentPlans(profile).map((agent) => ({ profile, agent })));
  const checks = agents.map(async ({ profile, agent: [name, plan] }): Promise<readonly Check[]> => {
    const version = plan.kind === 'command' ? plan.program?.version : undefined;
    const folder = join(context.home, profile.home);
    if (version === undefined || missingAgent(plan, { folder, env: context.env }) !== null) return [];
    const about = { profile: profile.name, subject: agentLabel(null, name), check: 'version' };
    return [{ ...about, ...compare(await versionOf(context, version.argv, folder), version) }];
  });
  return (await Promise.all(checks)).flat();
}

/** The first version that the program prints; null: it prints none. */
async function versionOf(context: CliContext, [program = '', ...args]: readonly string[], folder: string) {
  const argv = [locateProgram(program, folder), ...args];
  const env = allowedEnvironment(context.env, new Set());
  const limits = { timeoutMs: 20_000, maxStdoutBytes: 65_536 };
  const result = await runProcess({ argv, env, cwd: tmpdir(), stdin: '', ...limits }, context);
  return result.kind === 'exit' ? (/\d+\.\d+\.\d+/.exec(result.stdout.toString('utf8'))?.[0] ?? null) : null;
}

function compare(found: string | null, { from, below }: ProgramVersionPlan): Pick<Check, 'status' | 'detail' | 'fix'> {
  if (found !== null && !isBefore(found, from) && isBefore(found, below))
    return { status: 'ok', detail: found, fix: null };
  const detail = `${found ?? '--version printed no version'}; the entry is for ${from} and later, below ${below}`;
  return { status: 'warning', detail, fix: 'try a run with `hookwright webhook test`, or install such a version' };
}

function isBefore(a: string, b: string): boolean {
  const [x, y] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]];
  const at = x.findIndex((part, index) => part !== y[index]);
  return at >= 0 && (x[at] ?? 0) < (y[at] ?? 0);
}
