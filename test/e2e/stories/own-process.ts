/** Which steps of the stories start a process. Starting one takes longer than nearly all that is done in it. */
import type { CommandEntry } from '../../../cli/commands.ts';
import { commandsOf, findCommand } from '../../../cli/commands.ts';
import { MODULES } from '../../../main/modules.ts';
import type { Step, Story } from './story.ts';

/** The command that a step drives; undefined for words that are none. */
export function commandOf({ run }: Step): CommandEntry | undefined {
  return findCommand(commandsOf(MODULES), run.split(' '));
}

/** What it is about is the process: its signals, its terminal, what is piped into it, words that are no command. */
const isAboutProcess = (step: Step): boolean =>
  step.when !== undefined || step.terminal !== undefined || step.stdin !== undefined || commandOf(step) === undefined;

/**
 * Every step about processes, and the first of each exit code. With `all` every step, which is how users run them
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
