/** Texts that gateways share through their store; each is replaced as a whole. */

export interface SharedDocument {
  /** 0 when there is none yet. */
  readonly version: number;
  readonly text: string;
}

/** All reject with StoreUnavailable. */
export interface SharedDocuments {
  /** 0 when there is none yet. */
  version(name: string): Promise<number>;
  read(name: string): Promise<SharedDocument>;
  /** Replaces version `from`; returns false, and changes nothing, when that is no longer the current version. */
  replace(name: string, from: number, text: string): Promise<boolean>;
}
