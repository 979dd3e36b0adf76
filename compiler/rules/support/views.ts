/** What rules about jobs, profiles and the config as a whole look at. Routes: `route-scope.ts`. */
import type { Config, JobConfig, ProfileConfig, ProfilePlan, ServerPlan } from '../../../schemas/generated/types.ts';
import type { Overrides } from '../../lower/overrides.ts';
import type { EffectiveSettings } from '../../lower/webhook-settings.ts';
import type { RouteScope } from '../../route-scope.ts';

/** A config file's part that belongs to one profile; the root config's is that of `default`. */
export interface ProfileView {
  readonly name: string;
  readonly config: ProfileConfig;
  /** The table holds sources, targets and toolsets by now. */
  readonly scope: RouteScope;
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
  readonly server: ServerPlan;
  /** See `RouteScope.unsure`. */
  readonly unsure: ReadonlySet<string>;
}
