/** Facts about the machine that will run the gateway. The command line provides them for checks. */

/**
 * A job in the store, as opposed to one in a config file.
 *
 * @example
 * ```ts
 * import type { JobRef } from 'hookwright/compiler';
 *
 * const job: JobRef = { id: 'job_1', name: 'nightly', profile: 'default' };
 * ```
 */
export interface JobRef {
  /** Unique among all jobs. */
  readonly id: string;
  /** By which `cron_job` refers to it; unique in its profile. */
  readonly name: string;
  /** Name of the profile that the job runs in. */
  readonly profile: string;
}

/** `linked`: the file has other hard links, so it may not belong to the folder. */
export type ScriptState = 'present' | 'missing' | 'outside' | 'linked';

export interface MachineFacts {
  /** Absolute path of `<home_dir>`. */
  readonly home: string;
  /**
   * @param profileHome relative to `<home_dir>`, as in a profile's plan
   * @param path relative to `<profile home>/scripts/`
   * @returns `outside` if a symbolic link leads outside the folder
   */
  script(profileHome: string, path: string): ScriptState;
  /** @param path operand of `in_file`, as in the plan */
  listFile(path: string): boolean;
  skill(profileHome: string, name: string): boolean;
  /** Jobs in the store. */
  readonly jobs: readonly JobRef[];
  /** A variable of a profile, from the environment or its `.env`; undefined if it is unset or unknown. */
  variable(profile: string, name: string): string | undefined;
}
