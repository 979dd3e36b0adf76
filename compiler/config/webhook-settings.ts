/** Merges `platforms.webhook` with its `extra`: if both define a key, the one in `extra` wins (§2.1). */
import type { RouteConfig, WebhookConfig, WebhookSettings } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/problem.ts';

const OUTER: NodePath = ['platforms', 'webhook'];
const EXTRA: NodePath = ['platforms', 'webhook', 'extra'];

export type SettingName = Exclude<keyof WebhookSettings, 'routes'>;

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
