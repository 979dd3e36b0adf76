/** Texts that gateways share through their store, each changed as a whole. */

export interface SharedDocument {
  /** 0: there is none yet. */
  readonly version: number;
  readonly text: string;
}

/** All reject with StoreUnavailable. */
export interface SharedDocuments {
  /** 0: there is none yet. */
  version(name: string): Promise<number>;
  read(name: string): Promise<SharedDocument>;
  /** @param from the version that is replaced @returns false when it is another one by now: nothing is changed */
  replace(name: string, from: number, text: string): Promise<boolean>;
}
