/** Links target plans with the credentials of each profile, so that a delivery can use those and no others (§5.4). */
import type { ProfilePlan, RouteTable, TargetBinding, TargetPlan } from '../../schemas/generated/types.ts';
import type { SecretResolver } from '../platform/secrets/secrets.ts';
import { SecretError } from '../platform/secrets/secrets.ts';
import { bindingOf, bindTarget } from './bind-target.ts';
import type {
  BoundTarget,
  CreateDriver,
  DeliveryContext,
  Driver,
  DriverKind,
  DriverLoaders,
  Drivers,
} from './driver.ts';
import { createHttpDriver } from './http/http-driver.ts';
import { createLocalDriver, createLogDriver } from './log-driver.ts';

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
  readonly target: string;
  readonly message: string;
  /** No module of the program has its driver. */
  readonly noDriver?: true;
}

const CORE: Drivers = { http: createHttpDriver, log: createLogDriver, local: createLocalDriver };

/** Loads the drivers that the bindings of a table need, as far as a module has them. */
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

/** A target with code may be reached in declared ways as well. */
function driverKind({ driver, variants }: TargetPlan, { variant }: TargetBinding): DriverKind {
  if (driver !== 'http' && variant === null) return driver;
  const posts = variants.some(({ find, login, exchange }) => find ?? login ?? exchange?.jwt);
  return posts ? 'posts' : 'http';
}

/** Whether the profile has settings for the target, or something delivers there: some targets need no entry. */
export function isUsed({ routes, jobs, profiles, gateway }: RouteTable, profile: string, target: string): boolean {
  const { credentials = {}, options = {} } = profiles[profile]?.targets[target] ?? {};
  if (Object.keys({ ...credentials, ...options }).length > 0) return true;
  const owners = [...Object.values(routes), ...Object.values(jobs)].filter((one) => one.profile === profile);
  const told = [...(gateway.alerts?.deliver ?? []), ...(gateway.approvals?.deliver ?? [])];
  const all = owners.flatMap(({ deliver, on_failure, outputs = [] }) => [
    ...deliver,
    ...on_failure,
    ...outputs.map(({ delivery }) => delivery),
  ]);
  return [...told, ...all].some((delivery) => delivery.target === target);
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
      const about = { profile: profile.name, target: plan.name };
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

/** The linked target, or what is wrong with its binding. */
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
