/** A variable, and where it is set: for messages. */
export interface Variable {
  readonly value: string;
  readonly origin: string;
}

export type Variables = ReadonlyMap<string, Variable>;
