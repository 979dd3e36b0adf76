/** Performs the planned steps in order, and prints each one before it is done. */
import { CliError } from '../../../../cli/base/errors.ts';
import type { ServiceMachine } from './machine.ts';
import type { InstallStep } from './plan-install.ts';
import { SERVICE } from './plan-install.ts';
import { MARK } from './print-unit.ts';

export interface InstallTarget {
  readonly scope: 'system' | 'user';
  /** Absolute. */
  readonly config: string;
  readonly note: (line: string) => void;
}

/** @throws CliError when nothing may be done, or a step fails */
export function runInstall(
  machine: ServiceMachine,
  steps: readonly InstallStep[],
  { scope, config, note }: InstallTarget,
): void {
  refuseMachine(machine, scope);
  if (machine.read(config) === null) {
    throw new CliError(
      `there is no ${config}`,
      'write it first: hookwright init /etc/hookwright',
      'or name another: --config <path>',
    );
  }
  for (const step of steps) refuseForeign(machine, step);
  for (const step of steps) {
    note(describeStep(step));
    if (step.kind === 'write') machine.write(step.path, step.text);
    else runStep(machine, step.argv);
  }
  const flag = scope === 'user' ? '--user ' : '';
  note(`installed; look at it: systemctl ${flag}status ${SERVICE}, journalctl ${flag}-u ${SERVICE} -f`);
}

function refuseMachine({ hasSystemd, isRoot }: ServiceMachine, scope: InstallTarget['scope']): void {
  if (!hasSystemd) {
    throw new CliError(
      'systemd does not run this machine; nothing was done',
      'let your service manager run: hookwright gateway run --config <path>',
      'in the background, until the next boot: hookwright gateway start',
      'the unit for another machine: add --dry-run',
    );
  }
  if (scope === 'system' && !isRoot) {
    throw new CliError(
      'a service for the machine is installed by root',
      'sudo hookwright gateway install-service --system',
    );
  }
}

/** A unit written by hand is left alone. */
function refuseForeign(machine: ServiceMachine, step: InstallStep): void {
  if (step.kind !== 'write') return;
  const there = machine.read(step.path);
  if (there === null || there.startsWith(MARK)) return;
  throw new CliError(
    `${step.path} was not written by this command; nothing was done`,
    'compare it with what --dry-run prints, and move it away',
  );
}

function runStep(machine: ServiceMachine, argv: readonly string[]): void {
  const problem = machine.run(argv);
  if (problem === null) return;
  throw new CliError(
    `${argv.join(' ')}: ${problem}`,
    'the steps before it are done; run this command again once that is repaired',
  );
}

/** A line that shows a step as it could be typed. */
export function describeStep(step: InstallStep): string {
  if (step.kind === 'write') return `write ${step.path}`;
  return `run   ${step.argv.map(shown).join(' ')}  # ${step.why}`;
}

const shown = (word: string): string => (/[\s|>]/.test(word) ? `'${word}'` : word);
