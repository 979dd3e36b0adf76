/** Explains a request that a command of the core would send. */
import { createPaint } from '../../../../base/paint.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import type { Explained, SentRequest } from '../../../../cli/base/module.ts';
import { explainRoute } from './explain-route.ts';
import { formatExplanation } from './format-explanation.ts';

export async function explainSent(context: CliContext, sent: SentRequest): Promise<Explained> {
  const found = await explainRoute(context, { ...sent, runsScript: false });
  return { taken: found.taken, json: found, lines: formatExplanation(found, createPaint(context.colour.stdout)) };
}
