/** All stories. Together they run every command; the end-to-end test fails for a command without one. */
import { configuration } from './configuration.ts';
import { deliveries } from './deliveries.ts';
import { gateway } from './gateway.ts';
import { blueprints, jobs } from './jobs.ts';
import { profiles } from './profiles.ts';
import { setup } from './setup.ts';
import { sources } from './sources.ts';
import type { Story } from './story.ts';
import { subscriptions } from './subscriptions.ts';

/** The longest first, because the others run beside them. */
export const STORIES: readonly Story[] = [
  subscriptions,
  deliveries,
  gateway,
  configuration,
  jobs,
  profiles,
  sources,
  setup,
  blueprints,
];
