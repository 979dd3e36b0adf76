/**
 * Makes a draft compile. Foreign programs accept things that the compiler rejects (a non-linear regex, a target that is not
 * set up). Each rejected key is removed and reported, and its route is closed, because the removed key may be a check.
 */
import type { YAMLMap } from 'yaml';
import { isMap, isScalar, parseDocument } from 'yaml';
import type { Complaint, Conversion, Tools } from './conversion.ts';
import type { Draft, DraftRoute, Settings } from './draft.ts';
import { closeRoute } from './draft.ts';
import { printDraft } from './print-draft.ts';

/** Removing a key may reveal another problem. Large drafts take two or three rounds. */
const MAX_ROUNDS = 12;

/** Completes a conversion whose draft is filled. @throws Error if its config does not compile, which is a bug of the converter */
export function settle(draft: Draft, check: Tools['check'], rest: Pick<Conversion, 'programs' | 'notes'>): Conversion {
  const config = compilingText(draft, check);
  const routes = draft.routes.map(({ name, from, path, settings }) => ({
    name,
    from,
    path,
    open: settings.enabled !== false,
  }));
  return { config, variables: draft.variables, routes, entries: draft.report.entries(), ...rest };
}

function compilingText(draft: Draft, check: Tools['check']): string {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const config = printDraft(draft);
    const complaints = check(config);
    const errors = complaints.filter(({ severity }) => severity === 'error');
    if (errors.length === 0) return noteDropped(draft, config, complaints) ? printDraft(draft) : config;
    const document = parseDocument(config);
    const paths = errors.map((error) => ({ error, path: pathAt(document.contents, error.start) }));
    const removed = paths.filter(({ error, path }) => takeOut(draft, path, error)).length;
    if (removed === 0) throw new Error(`the converted config does not compile: ${errors[0]?.message ?? ''}`);
  }
  throw new Error('the converted config does not compile after all that was refused has been taken out');
}

const ROUTES = ['platforms', 'webhook', 'routes'];

/** Returns false if an earlier error of this round has already removed the key. */
function takeOut(draft: Draft, path: readonly string[], { message }: Complaint): boolean {
  const inRoute = ROUTES.every((part, at) => path[at] === part);
  const route = inRoute ? draft.routes.find(({ name }) => name === path[3]) : undefined;
  return route === undefined ? removeSetting(draft, path, message) : removeKey(route, path[4], message);
}

function removeKey(route: DraftRoute, key: string | undefined, message: string): boolean {
  const { settings } = route;
  const taken = key === undefined || key === 'enabled' ? Object.keys(settings).filter(isDispensable) : [key];
  if (!taken.some((name) => Object.hasOwn(settings, name))) return false;
  for (const name of taken) delete settings[name];
  const at = key === undefined ? route.path : [...route.path, key];
  closeRoute(route, at, `hookwright rejects it: ${message}`, 'Correct it here, then remove `enabled: false`');
  return true;
}

/** Whether a route can do without the key. The converter itself writes the others. */
const isDispensable = (key: string): boolean => !['enabled', 'secret', 'secrets', 'source'].includes(key);

/** Removes a setting of the server or of a target, or the whole target if it lacks a required setting. */
function removeSetting(draft: Draft, path: readonly string[], message: string): boolean {
  const depth = path[0] === 'platforms' && path[1] !== 'webhook' ? 2 : Math.min(path.length, 3);
  const parent = path
    .slice(0, depth - 1)
    .reduce<unknown>((at, part) => (at as Settings | undefined)?.[part], draft.config);
  const key = path[depth - 1];
  if (key === undefined || typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) return false;
  delete (parent as Settings)[key];
  const instead = 'Set it up in hookwright.yaml (docs/targets.md), then enable the routes that need it';
  draft.report.lost(path.slice(0, depth), `hookwright rejects it: ${message}`, instead);
  return true;
}

/** Reports warnings about keys that will be ignored. Returns true if there were any. */
function noteDropped(draft: Draft, config: string, complaints: readonly Complaint[]): boolean {
  const dropped = complaints.filter(({ rule }) => rule === 'unknown-toolset' || rule === 'barred-toolset');
  const document = dropped.length === 0 ? null : parseDocument(config);
  for (const { start, message } of dropped) {
    const path = pathAt(document?.contents, start);
    const route = draft.routes.find(({ name }) => name === path[3]);
    if (route === undefined) draft.report.lost(path.slice(0, 2), message);
    else route.report.lost([...route.path, 'toolsets'], message);
  }
  return dropped.length > 0;
}

function pathAt(root: unknown, offset: number): readonly string[] {
  if (!isMap(root)) return [];
  const pair = (root as YAMLMap).items.findLast(({ key }) => isScalar(key) && (key.range?.[0] ?? 0) <= offset);
  if (pair === undefined || !isScalar(pair.key)) return [];
  return [String(pair.key.value), ...pathAt(pair.value, offset)];
}
