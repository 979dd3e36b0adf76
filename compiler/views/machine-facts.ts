/** Facts about the machine that will serve, which checks ask for and the command line provides. */

/** A job that lives in the store and not in a config file. */
export interface JobRef {
  readonly id: string;
  readonly name: string;
  readonly profile: string;
}

/** `linked`: the file has another name, so whether it belongs to the folder is unknown. */
export type ScriptState = 'present' | 'missing' | 'outside' | 'linked';

export interface MachineFacts {
  /** `<home_dir>`, absolute. */
  readonly home: string;
  /**
   * @param profileHome relative to `<home_dir>`, as in a profile's plan.
   * @param path relative to `<profile home>/scripts/`.
   * @returns `outside`: a symbolic link leads out of the folder.
   */
  script(profileHome: string, path: string): ScriptState;
  /** @param path of an `in_file` operand, as in the plan. */
  listFile(path: string): boolean;
  skill(profileHome: string, name: string): boolean;
  /** Jobs of the store. */
  readonly jobs: readonly JobRef[];
  /** A variable of a profile, from the environment or its `.env`; undefined: not set, or not known here. */
  variable(profile: string, name: string): string | undefined;
}
