/** A hookwright config under construction: converters fill it, and `settle` makes it compile. */
import type { NodePath } from '../../../compiler/diagnostics/problem.ts';
import type { ConversionReport } from './report.ts';

export type Settings = Record<string, unknown>;

export interface DraftRoute {
  readonly name: string;
  /** Its name in the foreign config. */
  readonly from: string;
  /** Its path in the foreign config. */
  readonly path: NodePath;
  readonly settings: Settings;
}

export interface Draft {
  /** Display name of the program whose config is converted. */
  readonly origin: string;
  /** Name of the foreign file. */
  readonly file: string;
  /** Everything except the routes, in printing order. */
  readonly config: Settings;
  readonly routes: DraftRoute[];
  /** Variables for `.env`; null if the value is unknown. */
  readonly variables: Map<string, string | null>;
  readonly report: ConversionReport;
  /** Generates a secret for a route that had none. */
  readonly newSecret: () => string;
}

/** The `platforms.webhook` of a draft, which will contain the routes. */
export function webhookOf({ config }: Draft): Settings {
  config.platforms ??= {};
  const platforms = config.platforms as Settings;
  platforms.webhook ??= { enabled: true };
  return platforms.webhook as Settings;
}

/**
 * Disables a route until someone has reviewed it. A route is closed if one of its checks cannot be converted: without that
 * check it would accept requests that the original rejected.
 */
export function closeRoute(route: DraftRoute): void {
  route.settings.enabled = false;
}
