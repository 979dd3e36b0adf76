/**
 * What a user does with the packed program, as data: one folder, some files, and commands in order. Beside what a step
 * expects, every one of them is held to the conventions of main/cli.ts: results on stdout and the rest on stderr, no
 * escape sequences off a terminal, no secret printed but where the step says so.
 */
import type { Exchange } from '../../helpers/pty.ts';

/** Lines of which `…` stands for anything, alone in a line for any lines; or an expression that is found in it. */
export type Expected = string | RegExp;

export interface Step {
  /** What follows `hookwright`, quoted as for a shell; `$name` as a word, or at the start of one, is what was kept. */
  readonly run: string;
  /** Exit code; 0 unless said. */
  readonly code?: number;
  /** Nothing unless said. */
  readonly out?: Expected;
  /** Nothing unless said. */
  readonly err?: Expected;
  /** stdout is JSON. */
  readonly json?: true;
  readonly stdin?: string;
  /** Files written before it runs: text by path. */
  readonly write?: Readonly<Record<string, string>>;
  /** Modes of files and folders after it, octal. */
  readonly modes?: Readonly<Record<string, number>>;
  /** Kept for later steps: the first group of each expression, in stdout. */
  readonly keep?: Readonly<Record<string, RegExp>>;
  /** What it keeps is a secret, and this step and no other shows it. */
  readonly secret?: Readonly<Record<string, RegExp>>;
  /** Names of earlier secrets that it shows because it was asked to. */
  readonly reveals?: readonly string[];
  /** Once its output shows this, the rest of the story's hand: a signal, or a request it waits for. */
  readonly when?: readonly [shown: RegExp, then: (running: Running) => unknown];
  /** It runs on a terminal and this is typed; `out` is the screen. */
  readonly terminal?: readonly Exchange[];
  /** What it does is seen a moment later: it is run until it shows what is expected. */
  readonly eventually?: true;
}

export interface Running {
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly kept: ReadonlyMap<string, string>;
}

export interface Story {
  readonly about: string;
  /** Text by path below the folder of the story; its home is `home/`. Written for the owner alone. */
  readonly files?: Readonly<Record<string, string>>;
  /** Those of its files: nothing may print them. */
  readonly secrets?: readonly string[];
  readonly steps: readonly Step[];
}
