/** Views that rules about jobs, profiles and the whole config receive. For routes, see `route-scope.ts`. */
import type { Config, JobConfig, ProfileConfig, ProfilePlan, ServerPlan } from '../../schemas/generated/types.ts';
import type { Overrides } from '../config/overrides.ts';
import type { EffectiveSettings } from '../config/webhook-settings.ts';
import type { Variables } from '../text/variables.ts';
import type { RouteScope, RouteView } from './route-scope.ts';

/** The part of a config that belongs to one profile. For `default`, it is part of the root config. */
export interface ProfileView {
  readonly name: string;
  readonly config: ProfileConfig;
  /** Its table contains only sources, targets and toolsets. */
  readonly scope: RouteScope;
}

export interface AgentView extends Pick<ProfileView, 'name' | 'config'> {
  /** Creates the views lazily. */
  routes(): Iterable<RouteView>;
}

export interface JobView {
  readonly name: string;
  readonly config: JobConfig;
  readonly profile: ProfilePlan;
  readonly scope: RouteScope;
}

export interface ConfigView {
  readonly config: Config;
  readonly settings: EffectiveSettings;
  readonly overrides: Overrides;
  /** Environment variables that override settings, by name. */
  readonly variables: Variables;
  readonly server: ServerPlan;
  /** Its table does not contain routes yet. */
  readonly scope: RouteScope;
  /** See `RouteScope.invalidNames`. */
  readonly invalidNames: ReadonlySet<string>;
}
