/** Pauses routes, and shows which ones are paused. */
import type { PausedRoute } from '../../runtime/store/pauses.ts';
import { pausedRoutes } from '../../runtime/store/pauses.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { describePause, pausedUntil } from '../output/pause.ts';
import { printLine, printNote, visible } from '../output/print.ts';
import { makeStore, useStore } from '../store/use-store.ts';
import { findRoute } from './find-route.ts';
import { openTable } from './open-table.ts';

interface PausedRouteName {
  /** Its name, or the beginning of it. */
  readonly route: string;
  /** For how many ms; undefined: until it is resumed. */
  readonly for?: number | undefined;
  readonly config: readonly string[] | undefined;
}

/** One that is paused can be resumed when it is not served any more: what it holds would wait for ever. @throws CliError when there is no such route */
export async function pauseRoute(given: PausedRouteName, paused: boolean, context: CliContext): Promise<void> {
  const now = context.clock.now();
  const all = paused ? [] : await readPaused(context, given.config, now);
  const [held, ...others] = all.filter(({ route }) => route === given.route);
  const isHeld = held !== undefined && others.length === 0;
  const { name: route, profile } = isHeld
    ? { name: held.route, profile: held.profile }
    : findRoute(context, given.route, await openTable(context, given.config)).plan;
  const until = pausedUntil(given.for, now);
  await makeStore(context, (store) => store.write({ kind: 'pause_route', profile, route, paused, until, now }));
  printLine(context, `route ${visible(route)} ${describePause(paused, until)}`);
}

/** The pause of a route now; null: it is not paused. */
export type PauseOf = (profile: string, route: string) => PausedRoute | null;

/** Without a store that can be read, none is known to be paused, and a note says so. */
export async function readPauses(context: CliContext, configs: readonly string[] | undefined): Promise<PauseOf> {
  const now = context.clock.now();
  const paused = await readPaused(context, configs, now).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    printNote(context, `which routes are paused is not known: ${error.message}`);
    return [];
  });
  return (profile, route) => paused.find((each) => each.profile === profile && each.route === route) ?? null;
}

async function readPaused(context: CliContext, configs: readonly string[] | undefined, now: number) {
  const rows = await useStore(context, (store) => store.read({ kind: 'guard_rows', of: 'pause' }), configs);
  return pausedRoutes(rows ?? [], now);
}
