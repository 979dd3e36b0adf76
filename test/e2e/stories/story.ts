/**
 * A story as data: a user's folder, files and commands in order. Besides its expectations, every step must follow the
 * conventions of main/cli.ts: results on stdout and the rest on stderr, no escape sequences without a terminal, and no
 * secret in the output unless the step allows it.
 */
import type { Exchange } from '../../helpers/pty.ts';

/** Lines in which `…` matches any text, and alone in a line any lines; or an expression to find. */
export type Expected = string | RegExp;

export interface Step {
  /** The words after `hookwright`, quoted as for a shell; `$name` at the start of a word is a captured value. */
  readonly run: string;
  /** Exit code; default: 0. */
  readonly code?: number;
  /** Default: empty. */
  readonly out?: Expected;
  /** Default: empty. */
  readonly err?: Expected;
  /** stdout is JSON. */
  readonly json?: true;
  readonly stdin?: string;
  /** Files to write before it runs: text by path. */
  readonly write?: Readonly<Record<string, string>>;
  /** Expected octal modes of files and folders after it. */
  readonly modes?: Readonly<Record<string, number>>;
  /** Values captured for later steps: the first group of each expression, in stdout. */
  readonly keep?: Readonly<Record<string, RegExp>>;
  /** The captured value is a secret, which only this step may print. */
  readonly secret?: Readonly<Record<string, RegExp>>;
  /** Names of earlier secrets that it may print. */
  readonly reveals?: readonly string[];
  /** Once the output matches, the story sends a signal or a request. */
  readonly when?: readonly [shown: RegExp, then: (running: Running) => unknown];
  /** Runs it on a terminal and types this; `out` is the screen. */
  readonly terminal?: readonly Exchange[];
  /** Repeats it until the output matches. */
  readonly eventually?: true;
}

export interface Running {
  readonly kill: (signal: NodeJS.Signals) => void;
  /** The first group of the expression. */
  readonly shown: string;
}

export interface Story {
  readonly about: string;
  /** Private files: text by path in the folder of the story; its home is `home/`. */
  readonly files?: Readonly<Record<string, string>>;
  /** The secrets of its files, which no step may print. */
  readonly secrets?: readonly string[];
  readonly steps: readonly Step[];
}
