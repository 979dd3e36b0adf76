/** An error refuses the config; a warning does not. */
export type Severity = 'error' | 'warning';

export interface Rule {
  /** Kebab-case; also the name of its file and of its section in docs/rules.md. */
  readonly id: string;
  readonly severity: Severity;
  /** Under `lint --strict` it is printed as an error, too. */
  readonly strict?: true;
  /** One sentence: what is wrong. */
  readonly title: string;
  /** What would happen otherwise. Markdown. */
  readonly why: string;
  /** Decides about one value that a stage of the compiler has read or lowers; that stage calls it. */
  check?(...args: never[]): unknown;
  /** In place of a check: the file, from compiler/, that explains what a schema or a parser has refused. */
  readonly decidedIn?: string;
}
