/** A slow or failing disk for the store of a gateway process: its behaviour, and how a tool produces it. */
import { constants } from 'node:os';

export type DiskError = 'EIO' | 'ENOSPC';
export type DiskCall = 'sync' | 'write';

export interface DiskPlan {
  /** Home of the gateway; the files concerned are those of its store. */
  readonly home: string;
  /** The minimum time of a sync, in ms. */
  readonly syncMs?: number;
  /** Additional time of a sync: the written bytes at this many bytes per second. */
  readonly bytesPerSecond?: number;
  /** Once in this time, in ms, all syncs hang: for a twentieth, a tenth or three twentieths of it in turn. */
  readonly stallMs?: number;
  readonly fault?: DiskFault;
  /** File to which every call on the store's files is logged. */
  readonly log?: string;
}

/** The `nth` call of its kind from the start of the process fails, alone or with all later ones for some time. */
export interface DiskFault {
  readonly call: DiskCall;
  readonly error: DiskError;
  readonly nth: number;
  /** How long calls fail, from the first one on; 0: only the first one. */
  readonly lastsMs: number;
}

/** Calls on the store's files, as they are in the log of a plan. */
export interface DiskCalls {
  readonly sync: number;
  readonly write: number;
  /** Number of calls that were made to fail. */
  readonly failed: number;
}

/** The arguments and environment of a process. */
export interface Wrapped {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface DiskTool {
  readonly name: 'preload' | 'strace';
  /** @throws Error when this tool does not support the plan */
  wrap(argv: readonly string[], plan: DiskPlan): Wrapped;
  /** @param log the text of a plan's log */
  countCalls(log: string): DiskCalls;
}

/** Files of a store begin with this. */
export const STORE_FILES = 'state.';

export const errnoOf = (error: DiskError): number => constants.errno[error];
