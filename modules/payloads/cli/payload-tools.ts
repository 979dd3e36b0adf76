/** What the commands of the core ask about senders' payloads. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { PayloadTools } from '../../../cli/base/module.ts';
import { openSources } from '../../../cli/sources/open-sources.ts';
import { readShippedShape } from '../../../compiler/node/shipped-catalog.ts';
import { samplePayload } from '../compiler/payloads/sample-payload.ts';
import { readShapeFile } from '../compiler/shapes/shape-file.ts';
import { formsOfEvent, openShape } from './open-shape.ts';
import { addPayloadHints } from './payload-hints.ts';

export const payloadTools: PayloadTools<CliContext> = {
  sample(plan, event, scheme) {
    const text = scheme === null ? null : readShippedShape(scheme);
    return samplePayload(plan, event, text === null ? null : readShapeFile(text));
  },
  async addHints(context, schema, name, events) {
    const sources = await openSources(context, undefined);
    const source = sources.find(name);
    const all = openShape(context, source, sources);
    const forms = events.map((event) => formsOfEvent(all, event, source));
    return addPayloadHints(schema, forms.length === 0 ? [all] : forms);
  },
};
