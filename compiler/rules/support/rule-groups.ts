/** The groups of rules, in the order of docs/rules.md. */
export const RULE_GROUP_TITLES = {
  reading: 'Reading',
  shape: 'Shape',
  refusals: 'Routes: what makes the server refuse to start (§7)',
  names: 'Routes: names',
  secrets: 'Routes: signatures and secrets',
  senders: 'Routes: what is known of the sender',
  templates: 'Routes: templates, filters, scripts',
  strangers: 'Routes: what strangers can reach',
  effect: 'Routes: reach and effect',
  config: 'The rest of the config',
  jobs: 'Jobs',
  catalog: 'Entries of your own catalog',
} as const;

export type RuleGroupId = keyof typeof RULE_GROUP_TITLES;
