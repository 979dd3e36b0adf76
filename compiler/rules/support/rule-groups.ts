/** The groups of rules, in the order of docs/rules.md. */
export const RULE_GROUP_TITLES = {
  reading: 'Reading',
  shape: 'Structure',
  refusals: 'Routes: modes and authentication',
  names: 'Routes: names',
  secrets: 'Routes: signatures and secrets',
  senders: 'Routes: the sender',
  templates: 'Routes: templates, filters, scripts',
  strangers: 'Routes: untrusted input',
  effect: 'Routes: delivery and effect',
  config: 'Other settings',
  jobs: 'Jobs',
  catalog: 'Entries of your own catalog',
} as const;

export type RuleGroupId = keyof typeof RULE_GROUP_TITLES;
