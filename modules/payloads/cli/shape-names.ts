/** Events and paths of payloads, for completion; none when the sender has no shape. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { OpenSource } from '../../../cli/sources/open-sources.ts';
import { openSources } from '../../../cli/sources/open-sources.ts';
import type { FormSet } from '../compiler/shapes/form-set.ts';
import { listPaths } from '../compiler/shapes/list-paths.ts';
import { formsOfEvent, openShape } from './open-shape.ts';

export async function eventNames(context: CliContext, source: string): Promise<readonly string[]> {
  return (await open(context, source))?.all.forms.map(({ event }) => event) ?? [];
}

/** One part further than what is typed: a shell shows what follows, and not thousands of paths. */
export async function pathNames(
  context: CliContext,
  source: string,
  event: string | undefined,
  partial: string,
): Promise<readonly string[]> {
  const found = await open(context, source);
  if (found === null) return [];
  const set = event === undefined ? found.all : formsOrNone(found, event);
  return set === null ? [] : listPaths(set, { prefix: partial, depth: 1 }).map(({ path }) => path.join('.'));
}

interface KnownShape {
  readonly source: OpenSource;
  readonly all: FormSet;
}

async function open(context: CliContext, name: string): Promise<KnownShape | null> {
  try {
    const sources = await openSources(context, undefined);
    const source = sources.find(name);
    return { source, all: openShape(context, source, sources) };
  } catch {
    return null;
  }
}

function formsOrNone({ source, all }: KnownShape, event: string): FormSet | null {
  try {
    return formsOfEvent(all, event, source);
  } catch {
    return null;
  }
}
