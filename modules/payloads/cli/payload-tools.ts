/** What the commands of the core ask about senders' payloads. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { PayloadTools } from '../../../cli/base/module.ts';
import { samplePayload } from '../compiler/payloads/sample-payload.ts';
import { listPaths } from '../compiler/shapes/list-paths.ts';
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
  // For completion: none when the sender has no shape.
  async eventNames(context, source) {
    try {
      return (await openShape(context, source)).all.forms.map(({ event }) => event);
    } catch {
      return [];
    }
  },
  // One part further than what is typed: a shell shows what follows, and not thousands of paths.
  async pathNames(context, source, event, partial) {
    try {
      const { all, ofEvent } = await openShape(context, source);
      const set = event === undefined ? all : ofEvent(event);
      return listPaths(set, { prefix: partial, depth: 1 }).map(({ path }) => path.join('.'));
    } catch {
      return [];
    }
  },
};
