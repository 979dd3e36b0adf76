/**
 * The settings of the server: flags, environment and `extra` in order of precedence, trusted networks, and maps of
 * entries.
 */
import { ipVersion } from '../../base/net.ts';
import type {
  NetworkPlan,
  RouteConfig,
  RouteTable,
  WebhookConfig,
  WebhookSettings,
} from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import { ENTRY_MAPS as MAPS } from './built/key-lists.ts';

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
  /** TCP port, 0 to 65535; 0: any free port. */
  readonly port?: number | undefined;
  /** URL scheme of the links that open a blueprint in an app. */
  readonly app_scheme?: string | undefined;
}

/** Variables by name. Empty variables count as unset. */
type Env = ReadonlyMap<string, string>;

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

/** The problems of the variables, as sentences. @param read returns the value of a variable, or undefined if it is not set */
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

const OUTER: NodePath = ['platforms', 'webhook'];
const EXTRA: NodePath = ['platforms', 'webhook', 'extra'];

/** Merges `platforms.webhook` with its `extra`: if both define a key, the one in `extra` wins (§2.1). */
type SettingName = Exclude<keyof WebhookSettings, 'routes'>;

/** A route as written, and its path. */
export interface WrittenRoute {
  readonly name: string;
  readonly config: RouteConfig;
  readonly path: NodePath;
}

export interface EffectiveSettings {
  readonly values: Omit<WebhookSettings, 'routes'>;
  /** The path of a setting; null if it is not set. */
  pathOf(name: SettingName): NodePath | null;
  readonly routes: readonly WrittenRoute[];
  /** Keys and routes that are overridden by `extra`. */
  readonly shadowed: readonly { readonly path: NodePath; readonly by: NodePath }[];
}

/** Returns the effective values and routes, with their paths. */
export function effectiveSettings(webhook: WebhookConfig): EffectiveSettings {
  const { extra = {}, enabled: _, ...outer } = webhook;
  const { routes: outerRoutes = {}, ...outerValues } = outer;
  const { routes: extraRoutes = {}, ...extraValues } = extra;
  const pathOf = (name: SettingName): NodePath | null =>
    Object.hasOwn(extraValues, name) ? [...EXTRA, name] : Object.hasOwn(outerValues, name) ? [...OUTER, name] : null;
  const keys = Object.keys(outerValues).filter((key) => Object.hasOwn(extraValues, key));
  const names = Object.keys(outerRoutes).filter((name) => Object.hasOwn(extraRoutes, name));
  return {
    values: { ...outerValues, ...extraValues },
    pathOf,
    routes: [
      ...written(outerRoutes, OUTER).filter(({ name }) => !Object.hasOwn(extraRoutes, name)),
      ...written(extraRoutes, EXTRA),
    ],
    shadowed: [
      ...keys.map((key) => ({ path: [...OUTER, key], by: [...EXTRA, key] })),
      ...names.map((name) => ({ path: [...OUTER, 'routes', name], by: [...EXTRA, 'routes', name] })),
    ],
  };
}

const written = (routes: Readonly<Record<string, RouteConfig>>, base: NodePath): readonly WrittenRoute[] =>
  Object.entries(routes).map(([name, config]) => ({ name, config, path: [...base, 'routes', name] }));

/** Advice for proxies that have no fixed address. */
export const PROXIES =
  'write the address of the proxy: `trusted_proxies: [127.0.0.1]` for this machine, `[172.16.0.0/12]` for a container; names are not resolved';

/** Returns null if the text is neither. */
export function parseNetwork(text: string): NetworkPlan | null {
  const [address = '', prefix, ...rest] = text.split('/');
  if (rest.length > 0 || (prefix !== undefined && !/^(0|[1-9]\d{0,2})$/.test(prefix))) return null;
  const version = ipVersion(address);
  const bits = version === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  if (version === 0 || length > bits) return null;
  return { address, prefix: length, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Paths of a config's maps of entries: routes, jobs, targets, sources, single settings. */
export const ENTRY_MAPS: ReadonlySet<string> = new Set(MAPS);

/** The content of the route table, without the two fields that describe the file. */
export type TableContent = Omit<RouteTable, 'format' | 'hash'>;
