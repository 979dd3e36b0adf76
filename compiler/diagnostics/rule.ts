import type { RuleId } from './built/rule-id.ts';

/** An error rejects the config; a warning does not. */
export type Severity = 'error' | 'warning';

export interface Rule<Id extends string = RuleId> {
  /** Kebab-case; also the name of the rule's file and of its section in docs/rules.md. */
  readonly id: Id;
  readonly severity: Severity;
  /** `lint --strict` reports it as an error. */
  readonly strict?: true;
  /** What is wrong, in one sentence. */
  readonly title: string;
  /** The consequences of ignoring it. Markdown. */
  readonly why: string;
  /** Checks one value; called by the compiler stage that reads or lowers the value. */
  check?(...args: never[]): unknown;
  /** Instead of `check`: the file, relative to compiler/, that reports what a schema or a parser rejected. */
  readonly decidedIn?: string;
}
