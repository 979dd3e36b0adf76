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
  const { home, env } = context;
  const checks = Object.values(profiles).flatMap((profile) =>
    agentPlans(profile).map(async ([name, agent]): Promise<readonly Check[]> => {
      const version = agent.kind === 'command' ? agent.program?.version : undefined;
      const folder = join(home, profile.home);
      if (version === undefined || missingAgent(agent, { folder, env }) !== null) return [];
      const found = await versionOf(context, version.argv, folder);
      return [{ profile: profile.name, subject: agentLabel(null, name), check: 'version', ...compare(found, version) }];
    }),
  );
  return (await Promise.all(checks)).flat();
}

/** The first version that the program prints; null: it prints none. */
async function versionOf(context: CliContext, [program = '', ...args]: readonly string[], folder: string) {
  const result = await runProcess(
    {
      argv: [locateProgram(program, folder), ...args],
      cwd: tmpdir(),
      env: allowedEnvironment(context.env, new Set()),
      stdin: '',
      timeoutMs: 20_000,
      maxStdoutBytes: 65_536,
    },
    context,
  );
  const text = result.kind === 'exit' ? result.stdout.toString('utf8') : '';
  return /\d+\.\d+\.\d+/.exec(text)?.[0] ?? null;
}

function compare(
  found: string | null,
  { from, below }: Pick<ProgramVersionPlan, 'from' | 'below'>,
): Pick<Check, 'status' | 'detail' | 'fix'> {
  const range = `the entry was tested with ${from} and later, below ${below}`;
  if (found === null) return { status: 'warning', detail: `--version printed no version; ${range}`, fix: null };
  if (isBefore(found, from) || !isBefore(found, below)) {
    const fix = 'try a run with `hookwright webhook test`, or install a tested version';
    return { status: 'warning', detail: `${found}; ${range}`, fix };
  }
  return { status: 'ok', detail: found, fix: null };
}

function isBefore(a: string, b: string): boolean {
  const [x, y] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]];
  const at = x.findIndex((part, index) => part !== y[index]);
  return at >= 0 && (x[at] ?? 0) < (y[at] ?? 0);
}
