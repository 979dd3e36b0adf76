/** What the commands of the core ask about senders' payloads. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { PayloadTools } from '../../../cli/base/module.ts';
import { openSources } from '../../../cli/sources/open-sources.ts';
import { samplePayload } from '../compiler/payloads/sample-payload.ts';
import { readShippedShape } from '../compiler/shapes/shipped-shapes.ts';
import { formsOfEvent, openShape } from './open-shape.ts';
import { addPayloadHints } from './payload-hints.ts';
import { eventNames, pathNames } from './shape-names.ts';

export const payloadTools: PayloadTools<CliContext> = {
  sample(plan, event, scheme) {
    return samplePayload(plan, event, scheme === null ? null : readShippedShape(scheme));
  },
  async addHints(context, schema, name, events) {
    const sources = await openSources(context, undefined);
    const source = sources.find(name);
    const all = openShape(context, source, sources);
    const forms = events.map((event) => formsOfEvent(all, event, source));
    return addPayloadHints(schema, forms.length === 0 ? [all] : forms);
  },
  eventNames,
  pathNames,
};
