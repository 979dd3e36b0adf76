/** What rules about jobs, profiles and the config as a whole look at. Routes: `route-scope.ts`. */
import type { Config, JobConfig, ProfileConfig, ProfilePlan, ServerPlan } from '../../schemas/generated/types.ts';
import type { Overrides } from '../config/overrides.ts';
import type { EffectiveSettings } from '../config/webhook-settings.ts';
import type { Variables } from '../text/variables.ts';
import type { RouteScope, RouteView } from './route-scope.ts';

/** A config file's part that belongs to one profile; the root config's is that of `default`. */
export interface ProfileView {
  readonly name: string;
  readonly config: ProfileConfig;
  /** The table holds sources, targets and toolsets by now. */
  readonly scope: RouteScope;
}

export interface AgentView extends Pick<ProfileView, 'name' | 'config'> {
  /** Made one by one as a rule asks for them. */
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
  /** What the settings' variables say, by name. */
  readonly variables: Variables;
  readonly server: ServerPlan;
  /** The table holds no routes yet. */
  readonly scope: RouteScope;
  /** See `RouteScope.unsure`. */
  readonly unsure: ReadonlySet<string>;
}
