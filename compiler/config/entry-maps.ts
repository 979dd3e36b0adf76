/** Maps of a config whose values are entries of their own: routes, jobs, targets, sources, single settings. By path. */
export const ENTRY_MAPS: ReadonlySet<string> = new Set([
  '',
  'platforms',
  'platforms.webhook',
  'platforms.webhook.routes',
  'platforms.webhook.extra',
  'platforms.webhook.extra.routes',
  'platform_toolsets',
  'gateway',
  'agents',
  'jobs',
  'sources',
  'targets',
]);
