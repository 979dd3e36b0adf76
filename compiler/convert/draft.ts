/** A config of hookwright in the making: what converters fill and `settle` mends. */
import type { NodePath } from '../diagnostics/problem.ts';
import type { ConversionReport } from './report.ts';

export type Settings = Record<string, unknown>;

export interface DraftRoute {
  readonly name: string;
  /** What the foreign config calls it. */
  readonly from: string;
  /** Where that config has it. */
  readonly path: NodePath;
  readonly settings: Settings;
}

export interface Draft {
  /** The program whose config this was, as people write it. */
  readonly origin: string;
  /** Name of the foreign file. */
  readonly file: string;
  /** Everything but the routes, in the order in which it is printed. */
  readonly config: Settings;
  readonly routes: DraftRoute[];
  /** Variables for `.env`; null: its value is not known here. */
  readonly variables: Map<string, string | null>;
  readonly report: ConversionReport;
  /** For routes that had none. */
  readonly newSecret: () => string;
}

/** The `platforms.webhook` of a draft, where the routes are printed. */
export function webhookOf({ config }: Draft): Settings {
  config.platforms ??= {};
  const platforms = config.platforms as Settings;
  platforms.webhook ??= { enabled: true };
  return platforms.webhook as Settings;
}

/**
 * Keeps a route from taking events until it has been reviewed. A check that cannot be carried over closes its route:
 * without it, the route would take what the original refused.
 */
export function close(route: DraftRoute): void {
  route.settings.enabled = false;
}
