/** The commands of `hookwright job`. */
import type { CommandGroup } from '../../command-line/command-entry.ts';

export const JOB: CommandGroup = {
  noun: 'job',
  title: 'Scheduled prompts',
  commands: [
    {
      path: 'job create',
      summary: 'Make a scheduled job',
      load: async () => (await import('./create.ts')).JobCreateCommand,
    },
    {
      path: 'job list',
      summary: 'List the jobs: when each runs next, and how its last run ended',
      load: async () => (await import('./list.ts')).JobListCommand,
    },
    {
      path: 'job show',
      summary: 'Show a job: its prompt, its next five runs, its last ones, and what was missed',
      load: async () => (await import('./show.ts')).JobShowCommand,
    },
    {
      path: 'job edit',
      summary: 'Change a job: only what the flags say',
      load: async () => (await import('./edit.ts')).JobEditCommand,
    },
    {
      path: 'job pause',
      summary: 'Keep a job from firing; events for it are dropped',
      load: async () => (await import('./pause.ts')).JobPauseCommand,
    },
    {
      path: 'job resume',
      summary: 'Let a paused job fire again, from now on',
      load: async () => (await import('./resume.ts')).JobResumeCommand,
    },
    {
      path: 'job remove',
      summary: 'Remove a job; its history stays until its time is over',
      load: async () => (await import('./remove.ts')).JobRemoveCommand,
    },
    {
      path: 'job run',
      summary: 'Run a job now, whatever its schedule says',
      load: async () => (await import('./run.ts')).JobRunCommand,
    },
  ],
};
