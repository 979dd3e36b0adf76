/** An error as the generated validators report it. */

export interface SchemaError {
  /** JSON pointer into the data. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The offending key, when the error is about a name and not about a value. */
  readonly propertyName?: string;
}
