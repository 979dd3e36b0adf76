/** What stands above the config file: command line flags, then the environment (which already includes `<home_dir>/.env`). */

/** Flags of the command line. */
export interface Flags {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly app_scheme?: string | undefined;
}

/** Variables by name; an empty one counts as unset. */
export type Env = ReadonlyMap<string, string>;

export interface Overrides {
  readonly enabled: boolean | null;
  readonly host: string | null;
  readonly port: number | null;
  /** WEBHOOK_SECRET is set: it replaces the global secret, by reference. */
  readonly secret: boolean;
  /** What is wrong with a variable, by sentences that name it. */
  readonly complaints: readonly string[];
}

const TRUE: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);
const FALSE: ReadonlySet<string> = new Set(['false', '0', 'no', 'off']);

export function readOverrides(env: Env, flags: Flags): Overrides {
  const complaints: string[] = [];
  const enabled = env.get('WEBHOOK_ENABLED')?.toLowerCase() ?? '';
  if (enabled !== '' && !TRUE.has(enabled) && !FALSE.has(enabled)) {
    complaints.push('WEBHOOK_ENABLED must be `true` or `false`');
  }
  const port = env.get('WEBHOOK_PORT') ?? '';
  if (port !== '' && !isPort(port)) complaints.push('WEBHOOK_PORT must be a whole number from 0 to 65535');
  return {
    enabled: TRUE.has(enabled) ? true : FALSE.has(enabled) ? false : null,
    host: flags.host ?? nonEmpty(env.get('WEBHOOK_HOST')),
    port: flags.port ?? (isPort(port) ? Number(port) : null),
    secret: nonEmpty(env.get('WEBHOOK_SECRET')) !== null,
    complaints,
  };
}

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) <= 65535;

const nonEmpty = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);
