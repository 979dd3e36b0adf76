/** What a conversion yields: a config, variables, programs and a report. Nothing is read or written to get there. */
import type { NodePath } from '../diagnostics/problem.ts';
import type { Entry } from './report.ts';

export interface ConvertedRoute {
  readonly name: string;
  /** What the foreign config calls it. */
  readonly from: string;
  /** Where that config has it. */
  readonly path: NodePath;
  /** False: it answers 403 until it has been reviewed. */
  readonly open: boolean;
}

export interface Conversion {
  /** Text of `hookwright.yaml`; it compiles. */
  readonly config: string;
  /** Secrets and other variables by name, for `.env`; null: only its owner knows it. */
  readonly variables: ReadonlyMap<string, string | null>;
  /** Programs that the config runs, by path below `<home_dir>`. */
  readonly programs: ReadonlyMap<string, string>;
  readonly routes: readonly ConvertedRoute[];
  /** Every key of the foreign config, in its order. */
  readonly entries: readonly Entry[];
  /** What differs for all routes, in sentences. */
  readonly notes: readonly string[];
}

/** Why a text cannot be converted; never holds a value of the text. */
export interface Fault {
  /** Offset in the text. */
  readonly start: number;
  readonly message: string;
  readonly hint?: string;
}

export interface ConversionRefusal {
  readonly faults: readonly Fault[];
}

/** An error or a warning of the compiler about a text. */
export interface Complaint {
  readonly rule: string;
  readonly severity: 'error' | 'warning';
  /** Offset in the text. */
  readonly start: number;
  readonly message: string;
}

/** What a conversion needs of the world. */
export interface Tools {
  /** Compiles a config that is not written yet. */
  readonly check: (config: string) => readonly Complaint[];
  readonly newSecret: () => string;
}
