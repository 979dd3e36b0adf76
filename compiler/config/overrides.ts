/** Settings that override the config file: command-line flags, then the environment (which includes `<home_dir>/.env`). */

/**
 * Settings of the command line. They override the environment, which overrides the config.
 *
 * @example
 * ```ts
 * import type { Flags } from 'hookwright/compiler';
 *
 * const flags: Flags = { host: '127.0.0.1', port: 8644 };
 * ```
 */
export interface Flags {
  /** Address on which the server listens. */
  readonly host?: string | undefined;
  /** TCP port, 0 to 65535; 0: a free one. */
  readonly port?: number | undefined;
  /** URL scheme of the links that open a blueprint in an app. */
  readonly app_scheme?: string | undefined;
}

/** Variables by name. Empty variables count as unset. */
export type Env = ReadonlyMap<string, string>;

export interface Overrides {
  readonly enabled: boolean | null;
  readonly host: string | null;
  readonly port: number | null;
  /** Whether WEBHOOK_SECRET is set. A reference to it then replaces the global secret. */
  readonly secret: boolean;
}

const TRUE: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);
const FALSE: ReadonlySet<string> = new Set(['false', '0', 'no', 'off']);

/** Reads flags and variables. Invalid variables are ignored; the rule `invalid-environment` reports them. */
export function readOverrides(env: Env, flags: Flags): Overrides {
  const enabled = env.get('WEBHOOK_ENABLED')?.toLowerCase() ?? '';
  const port = env.get('WEBHOOK_PORT') ?? '';
  return {
    enabled: TRUE.has(enabled) ? true : FALSE.has(enabled) ? false : null,
    host: flags.host ?? nonEmpty(env.get('WEBHOOK_HOST')),
    port: flags.port ?? (isPort(port) ? Number(port) : null),
    secret: nonEmpty(env.get('WEBHOOK_SECRET')) !== null,
  };
}

/** What is wrong with the variables, in sentences. @param read returns the value of a variable, or undefined if it is not set */
export function invalidVariables(read: (name: string) => string | undefined): readonly string[] {
  const enabled = read('WEBHOOK_ENABLED') ?? '';
  const port = read('WEBHOOK_PORT') ?? '';
  return [
    ...(enabled === '' || isSwitch(enabled) ? [] : ['WEBHOOK_ENABLED must be `true` or `false`']),
    ...(port === '' || isPort(port) ? [] : ['WEBHOOK_PORT must be a whole number from 0 to 65535']),
  ];
}

const isSwitch = (text: string): boolean => TRUE.has(text.toLowerCase()) || FALSE.has(text.toLowerCase());

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) <= 65535;

const nonEmpty = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);
