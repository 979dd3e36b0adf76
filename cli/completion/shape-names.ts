/** Events and paths of payloads, for completion; none when the sender has no shape. */
import type { FormSet } from '../../compiler/shapes/form-set.ts';
import { listPaths } from '../../compiler/shapes/list-paths.ts';
import type { CliContext } from '../base/context.ts';
import { formsOfEvent, openShape } from '../sources/open-shape.ts';
import { openSources } from '../sources/open-sources.ts';

/** Canonical names and the ones senders are known by (`github`): a command takes both. */
export async function completeSourceNames(context: CliContext): Promise<readonly string[]> {
  try {
    return (await openSources(context, undefined)).names;
  } catch {
    return [];
  }
}

export async function eventNames(context: CliContext, [source = '']: readonly string[]): Promise<readonly string[]> {
  return (await open(context, source))?.forms.map(({ event }) => event) ?? [];
}

/** One part further than what is typed: a shell shows what follows, and not thousands of paths. */
export async function pathNames(
  context: CliContext,
  [source = '', event]: readonly string[],
  partial: string,
): Promise<readonly string[]> {
  const all = await open(context, source);
  if (all === null) return [];
  const set = event === undefined ? all : formsOrNone(all, event);
  return set === null ? [] : listPaths(set, { prefix: partial, depth: 1 }).map(({ path }) => path.join('.'));
}

async function open(context: CliContext, name: string): Promise<FormSet | null> {
  try {
    const sources = await openSources(context, undefined);
    return openShape(context, sources.find(name), sources);
  } catch {
    return null;
  }
}

function formsOrNone(all: FormSet, event: string): FormSet | null {
  try {
    return formsOfEvent(all, event);
  } catch {
    return null;
  }
}
