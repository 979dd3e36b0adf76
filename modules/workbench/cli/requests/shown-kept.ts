/** What is shown of a kept request of a running gateway beside itself. */

import type { CliContext } from '../../../../cli/base/context.ts';
import type { ServedGateway } from '../../../../cli/base/module.ts';
import { refusing } from '../../../../cli/serve/refusing.ts';
import { ControlError } from '../../../../runtime/control/control-error.ts';
import { printedRequest } from '../../../../runtime/intake/kept-request.ts';
import type { FoundPrinted, KeptRequest } from '../../../../schemas/built/operations/types.ts';
import type { Explanation, RouteTable } from '../../../../schemas/generated/types.ts';
import { explainRoute } from '../explain/explain-route.ts';
import { keptParts } from '../explain/read-request.ts';
import { testedTable } from '../test/tested-config.ts';
import { routeNamed } from '../test-event/test-route.ts';
import { nextStep } from './next-step.ts';
import { printCurl } from './print-request.ts';
import { printTest } from './print-test.ts';

type Parts = ServedGateway<CliContext>;

async function keptNamed({ service }: Parts, id: string): Promise<KeptRequest> {
  const found = await (await service.requests()).load(id);
  if (found.kind === 'found') return found.request;
  throw new ControlError(found.kind, `${found.kind} request "${id}"`);
}

export async function showKept({ service }: Parts, id: string): Promise<FoundPrinted> {
  const found = await (await service.requests()).load(id);
  if (found.kind !== 'found') return found;
  const { request } = found;
  const isSubscription = service.subscriptions.routes.some(({ name }) => name === request.route);
  return { kind: 'found', request: printedRequest(request, nextStep({ ...request, isSubscription })) };
}

/** No script runs. */
export const explainKept = (parts: Parts, id: string): Promise<Explanation> =>
  refusing(async () => {
    const { context, service } = parts;
    const kept = await keptNamed(parts, id);
    const plan = routeNamed(service, kept.route, kept.profile);
    const { parts: request, verifiedBy, cameAt } = keptParts(kept);
    const how = { request, verifiedBy, cameAt, event: null, runsScript: false };
    return explainRoute(context, { plan, table: service.table, ...how });
  });

export const printKept = (parts: Parts, id: string, form: 'curl' | 'test'): Promise<{ readonly text: string }> =>
  refusing(async () => {
    const { context, service, url } = parts;
    const kept = await keptNamed(parts, id);
    return { text: form === 'curl' ? printCurl(kept, url) : await asTest(context, kept, service.table) };
  });

/** A `*.test.yaml` that expects what becomes of it now. */
async function asTest(context: CliContext, kept: KeptRequest, table: RouteTable): Promise<string> {
  const config = testedTable(context, table, []);
  if (config.plan(kept.route)?.script == null) return printTest(kept, config, null);
  // A page starts no program: what stands in for it drops the event where the script did, and else changes nothing.
  const stdout = kept.reason === 'script' ? '' : Buffer.from(kept.body ?? '', 'base64').toString('utf8');
  return `# The script is not run: \`script\` stands in for it. Without that, it runs.\n${await printTest(kept, config, null, { stdout })}`;
}
