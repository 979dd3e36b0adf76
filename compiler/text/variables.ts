/** Environment variables with their origins, for messages. */
export interface Variable {
  readonly value: string;
  readonly origin: string;
}

export type Variables = ReadonlyMap<string, Variable>;
