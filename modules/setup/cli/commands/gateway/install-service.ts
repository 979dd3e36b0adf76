/** `hookwright gateway install-service`: a systemd unit that starts the gateway at boot and again after a crash. */
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../../../../cli/base/context.ts';
import { CliError } from '../../../../../cli/base/errors.ts';
import { failOnOption } from '../../../../../cli/command-line/options.ts';
import { printLine, printNote } from '../../../../../cli/output/print.ts';
import { nodeFiles } from '../../../../../compiler/node/node-files.ts';
import { explainMissing, searchConfig } from '../../../../../compiler/source/search-config.ts';
import type { ServiceMachine } from '../../service/machine.ts';
import { thisMachine } from '../../service/machine.ts';
import type { InstallStep } from '../../service/plan-install.ts';
import { planInstall, systemConfig } from '../../service/plan-install.ts';
import { describeStep, runInstall } from '../../service/run-install.ts';

export class GatewayInstallServiceCommand extends Command<CliContext> {
  static override paths = [['gateway', 'install-service']];
  static override usage = Command.Usage({
    description: 'Have systemd start the gateway at boot, and again after a crash',
    details:
      'Without --system it is a service of your own user, which can do what you can. With --system it runs as the user `hookwright`, reads /etc/hookwright, writes /var/lib/hookwright and has no more rights than it needs; that takes root. Each step is printed before it is done, and a unit that somebody else wrote is left alone. Run it again after an update or a move.',
    examples: [
      ['See what would be done', '$0 gateway install-service --dry-run'],
      ['For the machine', 'sudo $0 gateway install-service --system'],
    ],
  });

  system = Option.Boolean('--system', false, { description: 'For the machine, as a user of its own' });
  config = Option.String('--config', { description: '<path> Configuration instead of the usual one' });
  failOn = failOnOption('Refuse a changed configuration under which kept requests are lost, or treated otherwise');
  dryRun = Option.Boolean('--dry-run', false, { description: 'Print the unit and the steps; change nothing' });

  async execute(): Promise<number> {
    const machine = thisMachine(this.context.env);
    const steps = this.plan(machine);
    if (this.dryRun) this.show(steps);
    else {
      const scope = this.system ? 'system' : 'user';
      const config = this.configPath() ?? systemConfig();
      runInstall(machine, steps, { scope, config, note: (line) => printNote(this.context, line) });
    }
    return 0;
  }

  private plan({ userName }: ServiceMachine): readonly InstallStep[] {
    const { env, home, self } = this.context;
    return planInstall({
      scope: this.system ? 'system' : 'user',
      program: self,
      config: this.configPath(),
      failOn: this.failOn ?? [],
      home,
      userHome: env.HOME ?? '',
      userName,
      path: env.PATH ?? '',
    });
  }

  private configPath(): string | null {
    const { cwd, home } = this.context;
    if (this.config !== undefined) return resolve(cwd, this.config);
    if (this.system) return null;
    const { root } = searchConfig(nodeFiles, { cwd, home });
    if (root !== null) return root;
    const { message, hint } = explainMissing(nodeFiles, { cwd, home });
    throw new CliError(message, hint);
  }

  private show(steps: readonly InstallStep[]): void {
    for (const step of steps) {
      printNote(this.context, describeStep(step));
      if (step.kind === 'write') printLine(this.context, step.text.trimEnd());
    }
  }
}
