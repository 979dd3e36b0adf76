/** The result of a conversion: a config, variables, programs and a report. Conversions are pure. */
import type { NodePath } from '../../../compiler/diagnostics/problem.ts';
import type { Entry } from './report.ts';

export interface ConvertedRoute {
  readonly name: string;
  /** Its name in the foreign config. */
  readonly from: string;
  /** Its path in the foreign config. */
  readonly path: NodePath;
  /** False if the route answers 403 until someone has reviewed it. */
  readonly open: boolean;
}

export interface Conversion {
  /** Text of `hookwright.yaml`, which compiles. */
  readonly config: string;
  /** Secrets and other variables for `.env`, by name; null if the value is unknown. */
  readonly variables: ReadonlyMap<string, string | null>;
  /** Programs that the config runs, by path relative to `<home_dir>`. */
  readonly programs: ReadonlyMap<string, string>;
  readonly routes: readonly ConvertedRoute[];
  /** Every key of the foreign config, in file order. */
  readonly entries: readonly Entry[];
  /** Differences that concern all routes, as sentences. */
  readonly notes: readonly string[];
}

/** Why a text cannot be converted. Never contains a value from the text. */
export interface Fault {
  /** Offset in the text. */
  readonly start: number;
  readonly message: string;
  readonly hint?: string;
}

export interface ConversionRefusal {
  readonly faults: readonly Fault[];
}

/** A compiler error or warning. */
export interface Complaint {
  readonly rule: string;
  readonly severity: 'error' | 'warning';
  /** Offset in the text. */
  readonly start: number;
  readonly message: string;
}

/** Functions that a conversion calls. */
export interface Tools {
  /** Compiles a config from memory. */
  readonly check: (config: string) => readonly Complaint[];
  readonly newSecret: () => string;
}
