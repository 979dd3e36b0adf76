/** Links target plans with the credentials of each profile, so that a delivery can use only these (§5.4). */
import { own } from '../../base/names.ts';
import type { ProfilePlan, RouteTable, SecretRef, TargetBinding, TargetPlan } from '../../schemas/generated/types.ts';
import type { SecretResolver } from '../platform/secrets.ts';
import { explainSecrets, SecretError, tryRead } from '../platform/secrets.ts';
import type {
  BoundTarget,
  CreateDriver,
  DeliveryContext,
  Driver,
  DriverKind,
  DriverLoaders,
  Drivers,
} from './deliverer.ts';
import { createHttpDriver } from './http/http-driver.ts';
import { createRedact } from './redact.ts';

/** The driver sends nothing, so it has neither a chat nor a service to probe. */
const driverOf = (deliver: Driver['deliver']): Driver => ({
  immediate: true,
  deliver,
  show: async ({ text }) => [{ kind: 'text', text }],
  chatId: () => null,
  probe: async () => [],
});

/** The `log` target: writes a log line and sends nothing. */
export const createLogDriver: CreateDriver = (_, { log }) =>
  driverOf(async ({ key, profile, route, delivery_id, text }) => {
    const dispatch = key.slice(0, key.lastIndexOf(':'));
    log.info({ dispatch, profile, route, delivery_id, target: 'log', text }, 'delivered');
    return { kind: 'ok', message_id: null, sent: 1, logged: true };
  });

/** The `local` target: sends nothing. The text stays in the store with its dispatch (`hookwright deliveries show`). */
const createLocalDriver: CreateDriver = () => driverOf(async () => ({ kind: 'ok', message_id: null, sent: 1 }));

/** The parts of a route table that deliveries need. */
export interface TargetTables {
  readonly targets: Readonly<Record<string, TargetPlan>>;
  readonly profiles: Readonly<Record<string, ProfilePlan>>;
}

export interface LinkedTarget {
  readonly bound: BoundTarget;
  readonly driver: Driver;
}

/** Drivers of each profile by target; a profile sees only its own map. */
export type LinkedTargets = ReadonlyMap<string, ReadonlyMap<string, LinkedTarget>>;

/** A binding that cannot be used; `message` names the setting and its reference, never a value. */
export interface LinkProblem {
  readonly profile: string;
  /** Canonical name. */
  readonly target: string;
  /** Name of its entry in the config. */
  readonly label: string;
  readonly message: string;
  /** No module of the program provides its driver. */
  readonly noDriver?: true;
}

const CORE: Drivers = { http: createHttpDriver, log: createLogDriver, local: createLocalDriver };

/** Loads the drivers that the bindings of a table need, where a module provides them. */
export async function loadDrivers(
  { targets, profiles }: TargetTables,
  { modules }: Pick<DeliveryContext, 'modules'>,
): Promise<Drivers> {
  const loaders: DriverLoaders = Object.assign({}, ...modules.map(({ drivers }) => drivers));
  const drivers: { -readonly [Kind in DriverKind]?: Drivers[Kind] } = { ...CORE };
  for (const profile of Object.values(profiles)) {
    for (const plan of Object.values(targets)) {
      const binding = bindingOf(profile, plan);
      const kind = binding === null ? 'log' : driverKind(plan, binding);
      const load = loaders[kind];
      if (drivers[kind] === undefined && load !== undefined) drivers[kind] = await load();
    }
  }
  return drivers;
}

/** A target with its own code may also have declarative variants. */
function driverKind({ driver, variants }: TargetPlan, { variant }: TargetBinding): DriverKind {
  if (driver !== 'http' && variant === null) return driver;
  const posts = variants.some(({ find, fresh, login, exchange }) => find ?? fresh ?? login ?? exchange?.jwt);
  return posts ? 'posts' : 'http';
}

/** True if the profile has settings for the target or delivers to it: some targets need no entry. */
export function isUsed({ routes, jobs, profiles, gateway }: RouteTable, profile: string, target: string): boolean {
  const { credentials = {}, options = {} } = profiles[profile]?.targets[target] ?? {};
  if (Object.keys({ ...credentials, ...options }).length > 0) return true;
  const owners = [...Object.values(routes), ...Object.values(jobs)].filter((one) => one.profile === profile);
  const notices = [...(gateway.alerts?.deliver ?? []), ...(gateway.approvals?.deliver ?? [])];
  const all = owners.flatMap(({ deliver, on_failure, outputs = [] }) => [
    ...deliver,
    ...on_failure,
    ...outputs.map(({ delivery }) => delivery),
  ]);
  return [...notices, ...all].some((delivery) => delivery.target === target);
}

/** Links every binding; those with a problem are left out. */
export function linkTargets(
  tables: TargetTables,
  secrets: SecretResolver,
  context: DeliveryContext,
  drivers: Drivers,
): { readonly linked: LinkedTargets; readonly problems: readonly LinkProblem[] } {
  const problems: LinkProblem[] = [];
  const linked = new Map<string, ReadonlyMap<string, LinkedTarget>>();
  for (const profile of Object.values(tables.profiles)) {
    const bound = new Map<string, LinkedTarget>();
    for (const plan of Object.values(tables.targets)) {
      const binding = bindingOf(profile, plan);
      if (binding === null) continue;
      const about = { profile: profile.name, target: plan.name, label: binding.label ?? plan.name };
      const kind = driverKind(plan, binding);
      const create = drivers[kind];
      if (create === undefined) {
        const message = `no module of this program has the driver "${kind}"`;
        problems.push({ ...about, message, noDriver: true });
        continue;
      }
      const target = link({ profile: profile.name, plan, binding }, secrets, context, create);
      if (typeof target !== 'string') bound.set(plan.name, target);
      else problems.push({ ...about, message: target });
    }
    linked.set(profile.name, bound);
  }
  return { linked, problems };
}

/** Returns the linked target, or what is wrong with its binding. */
function link(
  unbound: Pick<BoundTarget, 'profile' | 'plan' | 'binding'>,
  secrets: SecretResolver,
  context: DeliveryContext,
  create: CreateDriver,
): LinkedTarget | string {
  try {
    const bound = bindTarget(unbound, secrets);
    const driver = create(bound, context);
    return typeof driver === 'string' ? driver : { bound, driver };
  } catch (error) {
    if (error instanceof SecretError) return error.message;
    throw error;
  }
}

/** Control characters are not valid in credentials: a line break would end a header. */
const CONTROL = /\p{Cc}/u;

/**
 * @throws SecretError that names every setting whose reference cannot be resolved, that is required and missing, or whose value
 * the target cannot use.
 */
export function bindTarget(
  target: Pick<BoundTarget, 'profile' | 'plan' | 'binding'>,
  resolver: SecretResolver,
): BoundTarget {
  const { plan, binding } = target;
  const settings = new Map<string, string>();
  const secrets: string[] = [];
  const problems: string[] = [];
  const textOf = (setting: Setting): string | null => tryRead(() => read(setting, binding, resolver), problems);
  for (const setting of plan.settings) {
    const known = problems.length;
    const value = textOf(setting) ?? setting.default ?? '';
    if (problems.length > known) continue;
    if (value === '' && setting.required) problems.push(`${setting.name} must be set`);
    if (value === '') continue;
    if ((plan.driver === 'http' || plan.variants.length > 0) && setting.lines !== true && CONTROL.test(value)) {
      problems.push(`${setting.name} contains a line break or another control character`);
    }
    settings.set(setting.name, value);
    if (setting.secret) secrets.push(value);
  }
  const homeChannel = textOf({ name: 'home_channel', secret: false }) ?? binding.home_channel;
  const apiBase = textOf({ name: 'api_base', secret: false }) ?? binding.api_base;
  if (problems.length > 0) throw new SecretError(problems.join('; '));
  return { ...target, homeChannel, apiBase, settings, redact: createRedact(secrets) };
}

type Setting = Pick<TargetPlan['settings'][number], 'name' | 'secret'>;

/** The value of a credential or an option; null when neither is set. */
function read(setting: Setting, { credentials, options }: TargetBinding, resolver: SecretResolver): string | null {
  const ref = own(credentials, setting.name);
  if (ref !== undefined) return resolve(setting, ref, resolver);
  const option = own(options, setting.name);
  return option === undefined ? null : String(option);
}

/** Trims the value, because most files end with a line break. */
function resolve({ name, secret }: Setting, ref: SecretRef, resolver: SecretResolver): string {
  const read = (): string => resolver.resolve(ref, secret ? undefined : name).trim();
  return explainSecrets(read, (reason) => new SecretError(`${name}: ${reason}`));
}

/** Drivers whose targets are enabled in every profile. */
const ALWAYS_BOUND: readonly TargetPlan['driver'][] = ['log', 'local'];

const NO_BINDING: TargetBinding = {
  variant: null,
  home_channel: null,
  api_base: null,
  allow_http: false,
  credentials: {},
  options: {},
  at_most_once: false,
  max_attempts: 1,
};

/** Null when the target is not enabled in this profile. */
export function bindingOf({ targets }: ProfilePlan, plan: TargetPlan): TargetBinding | null {
  const binding = own(targets, plan.name);
  return binding ?? (ALWAYS_BOUND.includes(plan.driver) ? NO_BINDING : null);
}
