/** `hookwright gateway install-service`: installs a systemd unit that starts the gateway at boot and after a crash. */
import { resolve } from 'node:path';
import type { CliContext } from '../../../cli/base/context.ts';
import { homeOf } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { command, flag, text } from '../../../cli/command-line/command.ts';
import { failOnOption } from '../../../cli/command-line/options.ts';
import { printLine, printNote } from '../../../cli/output/print.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { readHome } from '../../../compiler/source/read-home.ts';
import { explainMissing, searchConfig } from '../../../compiler/source/search-config.ts';
import type { InstallStep, ServiceMachine } from './service/plan-install.ts';
import {
  describeStep,
  isServiceHome,
  planInstall,
  runInstall,
  systemConfig,
  thisMachine,
} from './service/plan-install.ts';

const options = {
  system: flag('Install it for the machine, with a separate user'),
  config: text('path', 'Configuration file'),
  failOn: failOnOption(
    'Reject a changed configuration that would no longer accept captured requests, or would change their outcome',
  ),
  dryRun: flag('Only print the unit and the steps'),
};

type Options = ValuesOf<typeof options>;

export const gatewayInstallServiceCommand = command({
  options,
  async run(context, given) {
    const machine = thisMachine(context.env);
    const steps = plan(context, given, machine);
    if (given.dryRun) show(context, steps);
    else {
      const scope = given.system ? 'system' : 'user';
      const config = configPath(context, given) ?? systemConfig();
      runInstall(machine, steps, { scope, config, note: (line) => printNote(context, line) });
    }
  },
});

function plan(context: CliContext, given: Options, machine: ServiceMachine): readonly InstallStep[] {
  const { env, home, self } = context;
  const isUsual = home === homeOf({ HOME: env.HOME }, context.cwd);
  return planInstall({
    scope: given.system ? 'system' : 'user',
    program: self,
    config: configPath(context, given),
    failOn: given.failOn ?? [],
    home: given.system ? systemHome(context, configPath(context, given) ?? systemConfig()) : isUsual ? null : home,
    installed: (path) => machine.read(path),
    userHome: env.HOME ?? '',
    userName: machine.userName,
    path: env.PATH ?? '',
  });
}

/** The service runs as another user, so the variable of this one does not count, unless it names a place for services. */
function systemHome({ cwd, home }: CliContext, config: string): string | null {
  const named = readHome({ files: nodeFiles, cwd, userHome: '/root', configs: [config] });
  return named ?? (isServiceHome(home) ? home : null);
}

function configPath(context: CliContext, given: Options): string | null {
  const { cwd, home } = context;
  if (given.config !== undefined) return resolve(cwd, given.config);
  if (given.system) return null;
  const { root } = searchConfig(nodeFiles, { cwd, home });
  if (root !== null) return root;
  const { message, hint } = explainMissing(nodeFiles, { cwd, home });
  throw new CliError(message, hint);
}

function show(context: CliContext, steps: readonly InstallStep[]): void {
  for (const step of steps) {
    printNote(context, describeStep(step));
    if (step.kind === 'write') printLine(context, step.text.trimEnd());
  }
}
