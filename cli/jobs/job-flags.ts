/** The flags that describe a job, for `job create` and `job edit`. */
import type { JobConfig } from '../../schemas/generated/types.ts';
import { parseChoice, parseList } from '../command-line/values.ts';

export interface JobFlags {
  readonly schedule: string | undefined;
  readonly prompt: string | undefined;
  readonly deliver: string | undefined;
  readonly deliverChatId: string | undefined;
  readonly skills: string | undefined;
  readonly toolsets: string | undefined;
  readonly misfire: string | undefined;
  readonly description: string | undefined;
}

const MISFIRES = ['skip', 'once'] as const;

function deliverOf({ deliver, deliverChatId }: JobFlags): Pick<JobConfig, 'deliver' | 'deliver_extra'> {
  const [first, ...others] = parseList(deliver ?? '');
  return {
    ...(first === undefined ? {} : { deliver: others.length === 0 ? first : [first, ...others] }),
    ...(deliverChatId === undefined ? {} : { deliver_extra: { chat_id: deliverChatId } }),
  };
}

/** The keys of a job that the flags give; the others are left out. @throws UsageError */
export function configFromFlags(flags: JobFlags): Partial<JobConfig> {
  const { schedule, prompt, skills, toolsets, misfire, description } = flags;
  return {
    ...(schedule === undefined ? {} : { schedule }),
    ...(prompt === undefined ? {} : { prompt }),
    ...deliverOf(flags),
    ...(skills === undefined ? {} : { skills: parseList(skills) }),
    ...(toolsets === undefined ? {} : { toolsets: parseList(toolsets) }),
    ...(misfire === undefined ? {} : { misfire: parseChoice(misfire, '--misfire', MISFIRES) }),
    ...(description === undefined ? {} : { description }),
  };
}
