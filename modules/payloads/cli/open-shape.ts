/** Opens what is known about a sender's payloads: the shipped shape, or the files that a source of the user names. */
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import type { OpenSource, OpenSources } from '../../../cli/sources/open-sources.ts';
import { openSources } from '../../../cli/sources/open-sources.ts';
import { hasErrors } from '../../../compiler/diagnostics/diagnostic.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { createReport } from '../../../compiler/source/report.ts';
import { commonName } from '../../../compiler/text/common-name.ts';
import { suggest } from '../../../compiler/text/suggest.ts';
import { readOwnShapes } from '../compiler/payloads/own-shapes.ts';
import type { FormSet } from '../compiler/shapes/form-set.ts';
import { createFormSet } from '../compiler/shapes/form-set.ts';
import type { Shape } from '../compiler/shapes/shape.ts';
import { readShippedShape } from '../compiler/shapes/shipped-shapes.ts';

/** What is known about the payloads of one sender. */
export interface OpenShape {
  readonly source: OpenSource;
  /** The forms of all its events. */
  readonly all: FormSet;
  /** The forms of one event, under its sender's name or a further one. @throws CliError with the closest names */
  ofEvent(event: string): FormSet;
}

/** @param name of the sender @throws CliError if there is none, or nothing is known about its payloads */
export async function openShape(context: CliContext, name: string, config?: readonly string[]): Promise<OpenShape> {
  const sources = await openSources(context, config);
  const source = sources.find(name);
  const shape = source.own ? readOwn(context, source, sources.files) : readShippedShape(source.parent);
  if (shape === null) {
    const hint = `for a source of your own: hookwright source learn ${source.name} --from <file>…`;
    throw new CliError(`nothing is known of the payloads of "${source.name}"`, hint);
  }
  const all = createFormSet(shape);
  return { source, all, ofEvent: (event) => formsOfEvent(all, event, source) };
}

function readOwn(context: CliContext, { parent }: OpenSource, files: OpenSources['files']): Shape | null {
  const item = files.get(parent);
  if (item === undefined) return null;
  const report = createReport();
  const shapes = readOwnShapes(new Map([[parent, item]]), { files: nodeFiles, cwd: context.cwd }, report);
  const [first] = report.diagnostics();
  if (first !== undefined && hasErrors(report.diagnostics())) {
    throw new CliError(`the shape of "${parent}" cannot be read: ${first.message}`, 'hookwright lint shows where');
  }
  return shapes.get(parent) ?? null;
}

function formsOfEvent(set: FormSet, event: string, { name, file }: OpenSource): FormSet {
  const sent = Object.entries(file.event_names ?? {}).find(([, further]) => further.includes(event))?.[0] ?? event;
  const taken = set.forms.flatMap((form, index) => (form.event === sent ? [index] : []));
  if (taken.length > 0) return set.pick(taken);
  const known = commonName(name, file);
  const names = [...set.forms.map((form) => form.event), ...Object.values(file.event_names ?? {}).flat()];
  const [close] = suggest(event, new Set(names));
  const hint = close === undefined ? `hookwright source shape ${known} lists them` : `did you mean ${close}?`;
  throw new CliError(`the shape of "${known}" has no event "${event}"`, hint);
}
