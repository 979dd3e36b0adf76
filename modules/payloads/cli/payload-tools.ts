/** Answers the core commands' questions about senders' payloads. */
import { printPath } from '../../../base/paths.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { PayloadTools } from '../../../cli/base/module.ts';
import type { OpenSource, OpenSources } from '../../../cli/sources/open-sources.ts';
import { openSources } from '../../../cli/sources/open-sources.ts';
import { hasErrors } from '../../../compiler/diagnostics/diagnostic.ts';
import { createReport } from '../../../compiler/source/find-place.ts';
import { suggest } from '../../../compiler/text/suggest.ts';
import { readOwnShapes } from '../compiler/payloads/own-shapes.ts';
import { samplePayload } from '../compiler/payloads/sample-payload.ts';
import { listPaths } from '../compiler/shapes/describe.ts';
import type { FormSet } from '../compiler/shapes/form-set.ts';
import { createFormSet } from '../compiler/shapes/form-set.ts';
import { itemShape } from '../compiler/shapes/item-shape.ts';
import type { Shape } from '../compiler/shapes/shape.ts';
import { ANY_EVENT } from '../compiler/shapes/shape.ts';
import { readShippedShape } from '../compiler/shapes/shape-file.ts';

export const payloadTools: PayloadTools<CliContext> = {
  sample(plan, event, scheme, now) {
    return samplePayload(plan, event, scheme === null ? null : readShippedShape(scheme), now);
  },
  async addHints(context, schema, name, events) {
    const { all, ofEvent } = await openShape(context, name);
    return addPayloadHints(schema, events.length === 0 ? [all] : events.map(ofEvent));
  },
};

/** The payload shapes of one sender. */
export interface OpenShape {
  readonly source: OpenSource;
  /** The forms of all its events. */
  readonly all: FormSet;
  /** The forms of one event, by the sender's name for it or another name. @throws CliError with the closest names */
  ofEvent(event: string): FormSet;
}

/** @param name of the sender @throws CliError if the sender or the shape of its payloads is unknown */
export async function openShape(context: CliContext, name: string, config?: readonly string[]): Promise<OpenShape> {
  const sources = await openSources(context, config);
  const source = sources.find(name);
  const shape = source.own ? readOwn(context, source, sources) : readShippedShape(source.parent);
  if (shape === null) {
    const hint = `for a custom source, learn the shape: hookwright source learn ${source.name} --from <file>…`;
    throw new CliError(`no payload shape is known for "${source.name}"`, hint);
  }
  const all = createFormSet(itemShape(shape, source.file));
  return { source, all, ofEvent: (event) => formsOfEvent(all, event, source) };
}

function readOwn(context: CliContext, { parent }: OpenSource, { files, named }: OpenSources): Shape | null {
  const item = files.get(parent);
  if (item === undefined) return null;
  const report = createReport();
  const shapes = readOwnShapes(new Map([[parent, item]]), { files: named, cwd: context.cwd }, report);
  const [first] = report.diagnostics();
  if (first !== undefined && hasErrors(report.diagnostics())) {
    throw new CliError(`the shape of "${parent}" cannot be read: ${first.message}`, 'see hookwright lint');
  }
  return shapes.get(parent) ?? null;
}

function formsOfEvent(set: FormSet, event: string, { name, file }: OpenSource): FormSet {
  const sent = Object.entries(file.event_names ?? {}).find(([, further]) => further.includes(event))?.[0] ?? event;
  const taken = set.forms.flatMap((form, index) => (form.event === sent ? [index] : []));
  if (taken.length > 0) return set.pick(taken);
  const names = [...set.forms.map((form) => form.event), ...Object.values(file.event_names ?? {}).flat()];
  const [close] = suggest(event, new Set(names));
  const hint = close === undefined ? `list the events: hookwright source shape ${name}` : `did you mean ${close}?`;
  throw new CliError(`the shape of "${name}" has no event "${event}"`, hint);
}

type Schema = Readonly<Record<string, unknown>>;

interface Payloads {
  readonly events: readonly string[];
  readonly paths: readonly string[];
}

/** By the value of `x-payload`. Editors offer `examples`; for texts with placeholders, they are listed in the description. */
const HINTS: Readonly<Record<string, (payloads: Payloads) => Schema>> = {
  events: ({ events }) => ({ examples: events.map((event) => [event]), 'x-payload-events': events }),
  path: ({ paths }) => ({ examples: paths, 'x-payload-paths': paths }),
  template: ({ paths }) => ({ 'x-payload-paths': paths }),
  templates: ({ paths }) => ({ 'x-payload-paths': paths }),
  'path-or-template': ({ paths }) => ({ examples: paths, 'x-payload-paths': paths }),
};

/** @param forms forms of the wanted events */
export function addPayloadHints(schema: unknown, forms: readonly FormSet[]): unknown {
  const names = forms.flatMap((set) => set.forms.map(({ event }) => event));
  const paths = forms.flatMap((set) => listPaths(set).map(({ path }) => printPath(path)));
  return addTo(schema, {
    events: [...new Set(names)].filter((event) => event !== ANY_EVENT),
    paths: [...new Set(paths)].sort(),
  });
}

function addTo(node: unknown, payloads: Payloads): unknown {
  if (Array.isArray(node)) return node.map((each) => addTo(each, payloads));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([key, value]) => [key, addTo(value, payloads)] as const);
  const kind = (node as Schema)['x-payload'];
  const hint = typeof kind === 'string' && Object.hasOwn(HINTS, kind) ? HINTS[kind]?.(payloads) : undefined;
  return { ...Object.fromEntries(entries), ...hint };
}
