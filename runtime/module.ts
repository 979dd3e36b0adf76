/** What a module adds to the runtime. Parts that are not configured are never loaded. */

/** One module's part of the runtime: a plain object whose members load their code on first use. */
export interface RuntimePart {
  readonly name: string;
}
