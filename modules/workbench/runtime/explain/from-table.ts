/** What explanations take from the configuration alone: the state of jobs, the home channels of targets. */
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';
import type { HomeChannelOf, JobOutcome } from './explain-services.ts';
import { lenient } from './lenient-secrets.ts';

/** Why `serve` does not start with a configuration without `platforms.webhook.enabled`. */
export const SWITCHED_OFF = 'webhooks are switched off: set platforms.webhook.enabled';

/** By the config alone, for tests of it. */
export function configuredJobState({ jobs }: RouteTable, profile: string, id: string): JobOutcome {
  const job = Object.hasOwn(jobs, id) ? jobs[id] : undefined;
  if (job === undefined || job.profile !== profile) return 'unknown_job';
  return job.paused ? 'paused' : 'accepted';
}

/** The chat that a target delivers to where a route names none; its reference, where that cannot be resolved here. */
export function homeChannels({ profiles }: RouteTable, secrets: SecretResolver): HomeChannelOf {
  return (profile, { target, extra }) => {
    const targets = profiles[profile]?.targets ?? {};
    const binding = Object.hasOwn(targets, target) ? targets[target] : undefined;
    if (binding === undefined || Object.hasOwn(extra, 'chat_id')) return null;
    const { home_channel: ref } = binding.credentials;
    return (ref === undefined ? binding.home_channel : lenient(secrets).resolve(ref, 'home_channel').trim()) || null;
  };
}
