/** What the commands of the core ask about senders' payloads. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { PayloadTools } from '../../../cli/base/module.ts';
import { samplePayload } from '../compiler/payloads/sample-payload.ts';
import { readShippedShape } from '../compiler/shapes/shipped-shapes.ts';
import { openShape } from './open-shape.ts';
import { addPayloadHints } from './payload-hints.ts';

export const payloadTools: PayloadTools<CliContext> = {
  sample(plan, event, scheme, now) {
    return samplePayload(plan, event, scheme === null ? null : readShippedShape(scheme), now);
  },
  async addHints(context, schema, name, events) {
    const { all, ofEvent } = await openShape(context, name);
    return addPayloadHints(schema, events.length === 0 ? [all] : events.map(ofEvent));
  },
};
