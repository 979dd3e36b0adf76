/** Lowers a job of a config file. Its id consists of profile and name, so it does not change between compiles. */
import { agentToolsets } from '../../base/names.ts';
import type { JobPlan, Place, ProfilePlan } from '../../schemas/generated/types.ts';
import { jobToolsets } from '../config/agents.ts';
import { JOB_DELIVERIES } from '../config/route-keys.ts';
import type { TableContent } from '../config/settings.ts';
import type { Planned, Problem } from '../diagnostics/diagnostic.ts';
import { takeInto } from '../diagnostics/diagnostic.ts';
import type { JobView } from '../views/views.ts';
import { lowerBudget } from './agent.ts';
import { lowerDeliver, lowerOutputs, lowerReceiver } from './route.ts';

export interface JobEntry extends Omit<JobView, 'scope'> {
  readonly at: Place;
}

const jobId = (profile: ProfilePlan, name: string): string => (profile.home === '' ? name : `${profile.name}/${name}`);

export function lowerJob(
  { name, config, profile, at }: JobEntry,
  table: Pick<TableContent, 'targets' | 'target_names' | 'toolsets' | 'gateway'>,
): Planned<JobPlan> {
  const problems: Problem[] = [];
  const take = takeInto(problems);
  const plan: JobPlan = {
    id: jobId(profile, name),
    name,
    profile: profile.name,
    description: config.description ?? null,
    schedule: config.schedule.trim().split(/\s+/).join(' '),
    timezone: config.timezone ?? null,
    prompt: config.prompt,
    deliver: take(lowerDeliver(config, table, JOB_DELIVERIES), []),
    ...take(lowerOutputs(config.outputs, table, JOB_DELIVERIES), []),
    agent: config.agent ?? null,
    skills: config.skills ?? [],
    toolsets: agentToolsets(
      config.toolsets === undefined ? profile.toolsets : jobToolsets(config.toolsets, table.toolsets),
      profile,
      config.agent ?? null,
    ),
    on_failure: take(lowerReceiver(config.on_failure, table), ['on_failure']),
    paused: config.paused ?? false,
    misfire: config.misfire ?? 'skip',
    ...lowerBudget(config),
    at,
  };
  return { plan, problems };
}
