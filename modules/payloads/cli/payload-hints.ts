/** Adds the events and payload paths of a sender to a JSON Schema, where `x-payload` says that they may stand. */
import type { FormSet } from '../compiler/shapes/form-set.ts';
import { listPaths } from '../compiler/shapes/list-paths.ts';
import { ANY_EVENT } from '../compiler/shapes/shape.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Payloads {
  readonly events: readonly string[];
  readonly paths: readonly string[];
}

/** By the value of `x-payload`. `examples` are what editors offer; for a text with placeholders in it they are listed beside. */
const HINTS: Readonly<Record<string, (payloads: Payloads) => Schema>> = {
  events: ({ events }) => ({ examples: events.map((event) => [event]), 'x-payload-events': events }),
  path: ({ paths }) => ({ examples: paths, 'x-payload-paths': paths }),
  template: ({ paths }) => ({ 'x-payload-paths': paths }),
  templates: ({ paths }) => ({ 'x-payload-paths': paths }),
  'path-or-template': ({ paths }) => ({ examples: paths, 'x-payload-paths': paths }),
};

/** @param forms of the events that are wanted */
export function addPayloadHints(schema: unknown, forms: readonly FormSet[]): unknown {
  const names = forms.flatMap((set) => set.forms.map(({ event }) => event));
  const paths = forms.flatMap((set) => listPaths(set).map(({ path }) => path.join('.')));
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
