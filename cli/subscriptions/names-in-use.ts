/** Names of routes and subscriptions for messages: read from what lies on disk, quickly, and never with an error. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainMap } from '../../compiler/text/plain-map.ts';
import type { CliContext } from '../base/context.ts';

export const subscriptionNames = ({ home }: CliContext): string[] =>
  Object.keys(readMap(join(home, 'webhook_subscriptions.json')));

/** Those of the compiled table, and subscriptions. */
export function routeNames(context: CliContext): string[] {
  const routes = [context.cwd, context.home].flatMap((root) => {
    const { routes } = readMap(join(root, 'build', 'routes.json'));
    return isPlainMap(routes) ? Object.values(routes) : [];
  });
  return [...routes.flatMap((route) => (isPlainMap(route) ? String(route.name) : [])), ...subscriptionNames(context)];
}

function readMap(path: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isPlainMap(value) ? value : {};
  } catch {
    return {};
  }
}
