/** An error as the generated validators report it. */

export interface SchemaError {
  /** JSON pointer into the data. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The key, if the error concerns a name and not a value. */
  readonly propertyName?: string;
}
