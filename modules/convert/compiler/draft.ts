/** A hookwright config under construction: converters fill it, and `settle` makes it compile. */
import type { NodePath } from '../../../compiler/diagnostics/problem.ts';
import type { ParsedFile } from '../../../compiler/source/parse-yaml.ts';
import type { Tools } from './conversion.ts';
import type { ConversionReport, KeyReport } from './report.ts';
import { createConversionReport } from './report.ts';
import { routeName } from './route-name.ts';

export type Settings = Record<string, unknown>;

export interface DraftRoute {
  readonly name: string;
  /** Its name in the foreign config. */
  readonly from: string;
  /** Its path in the foreign config. */
  readonly path: NodePath;
  readonly settings: Settings;
  /** For the keys that it is converted from. */
  readonly report: KeyReport;
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
  readonly newSecret: Tools['newSecret'];
}

export function createDraft(origin: string, file: ParsedFile, newSecret: Tools['newSecret']): Draft {
  const report = createConversionReport(file);
  return { origin, file: file.source.name, config: {}, routes: [], variables: new Map(), report, newSecret };
}

/** @param kind what the original calls a route @param id its name there */
export function addRoute(draft: Draft, kind: string, id: string, path: NodePath): DraftRoute {
  const name = routeName(draft.routes, id);
  const route = { name, from: `${kind} ${id}`, path, settings: {}, report: draft.report.ofRoute(name) };
  draft.routes.push(route);
  return route;
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
 * check it would accept requests that the original rejected. Reports the key that was lost.
 */
export function closeRoute({ settings, report }: DraftRoute, path: NodePath, reason: string, instead: string): void {
  settings.enabled = false;
  report.lost(path, reason, instead);
}
