/** What the YAML file of a rule says about it. */

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

type RuleGroupId = keyof typeof RULE_GROUP_TITLES;

/**
 * How much a diagnostic weighs: an error rejects the config, the route or the job; a warning does not.
 *
 * @example
 * ```ts
 * import type { Severity } from 'hookwright/compiler';
 *
 * const EXIT_CODES: Readonly<Record<Severity, number>> = { error: 1, warning: 0 };
 * ```
 */
export type Severity = 'error' | 'warning';

export interface RuleData {
  /** The section of docs/rules.md. */
  readonly group: RuleGroupId;
  /** An error rejects what the rule reports; a warning does not. */
  readonly severity: Severity;
  /** `lint --strict` reports it as an error. */
  readonly strict?: true;
  /** What is wrong, in one sentence. */
  readonly title: string;
  /** The consequences of ignoring it. Markdown. */
  readonly why: string;
}
