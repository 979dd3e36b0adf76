/** The data in the YAML file of a rule. */

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
  catalog: 'Custom catalog entries',
} as const;

type RuleGroupId = keyof typeof RULE_GROUP_TITLES;

/**
 * The severity of a diagnostic: an error rejects the config, the route or the job; a warning does not.
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
  /** An error rejects the config, the route or the job; a warning does not. */
  readonly severity: Severity;
  /** `lint --strict` reports it as an error. */
  readonly strict?: true;
  /** The problem, in one sentence. */
  readonly title: string;
  /** The consequences of ignoring it. Markdown. */
  readonly why: string;
}
