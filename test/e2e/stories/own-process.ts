/** Chooses the steps that start a process, because starting one takes longer than most commands. */
import type { CommandEntry } from '../../../cli/commands.ts';
import { commandsOf, findCommand } from '../../../cli/commands.ts';
import { MODULES } from '../../../main/modules.ts';
import type { Step, Story } from './story.ts';

/** The command that a step runs; undefined for unknown words. */
export function commandOf({ run }: Step): CommandEntry | undefined {
  return findCommand(commandsOf(MODULES), run.split(' '));
}

/** Whether the step tests the process itself: signals, terminal, stdin, or unknown commands. */
const isAboutProcess = (step: Step): boolean =>
  step.when !== undefined || step.terminal !== undefined || step.stdin !== undefined || commandOf(step) === undefined;

/**
 * Steps that test the process, and the first step with each exit code. With `all` every step, as users run them
 * (`npm run test:long -- e2e/packed`).
 */
export function stepsWithProcess(stories: readonly Story[], all: boolean): ReadonlySet<Step> {
  const steps = stories.flatMap((story) => story.steps);
  const firsts = new Map<number, Step>();
  for (const step of steps) {
    const code = step.code ?? 0;
    if (step.terminal === undefined && !firsts.has(code)) firsts.set(code, step);
  }
  return new Set(steps.filter((step) => all || isAboutProcess(step) || [...firsts.values()].includes(step)));
}
