/** Sends a signed event to a route of a running gateway, as its sender would. */

import type { CliContext } from '../../../../cli/base/context.ts';
import type { ServedGateway } from '../../../../cli/base/module.ts';
import { loadPart } from '../../../../cli/base/module.ts';
import { refusing } from '../../../../cli/serve/refusing.ts';
import { routePath } from '../../../../cli/subscriptions/routes.ts';
import { ControlError } from '../../../../runtime/control/control-error.ts';
import { createSecrets } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import type { OperatedService } from '../../../../runtime/service/options.ts';
import { partsOf } from '../../../../runtime/verify/request.ts';
import type { RouteTestReport, RouteTestRequest } from '../../../../schemas/built/operations/types.ts';
import type { RoutePlan } from '../../../../schemas/generated/types.ts';
import { explainSent } from '../explain/explain-route.ts';
import { leavingMessages } from './leaving-messages.ts';
import { signTestEvent } from './sign-test-event.ts';

/** @throws ControlError when there is no such route in service */
export function routeNamed({ table, subscriptions }: OperatedService, name: string, profile?: string): RoutePlan {
  const isMeant = (plan: RoutePlan): boolean => plan.name === name && plan.profile === (profile ?? plan.profile);
  const found = Object.values(table.routes).find(isMeant) ?? subscriptions.routes.find(isMeant);
  if (found === undefined) throw new ControlError('not_found', `this gateway serves no route "${name}"`);
  return found;
}

/** Through the stages of the public server, from this machine. */
export const testRoute = (
  { context, service }: ServedGateway<CliContext>,
  asked: RouteTestRequest,
): Promise<RouteTestReport> =>
  refusing(async () => {
    const { route, event, payload, confirmed = false } = asked;
    const plan = routeNamed(service, route);
    const { table } = service;
    const payloads = await loadPart(context.modules, 'payloads');
    const now = context.clock.now();
    const signed = signTestEvent({
      plan,
      table,
      event,
      source: undefined,
      key: null,
      now,
      random: context.random,
      body: payload === undefined ? null : Buffer.from(payload, 'utf8'),
      sample: (scheme, named) => payloads.sample(plan, named, scheme, now),
      secrets: createSecrets(context),
    });
    const path = routePath(plan) + signed.query;
    if (payload === undefined && !confirmed) {
      const request = partsOf('POST', path, Object.entries(signed.headers), signed.body);
      const messages = leavingMessages(
        plan,
        table,
        await explainSent(context, { plan, table, request, event: signed.event }),
      );
      if (messages.length > 0)
        throw new ControlError('would_leave', `a made-up event would send a message to ${messages.join(', and to ')}`);
    }
    const body = new Uint8Array(signed.body);
    const request = new Request(`http://localhost${path}`, { method: 'POST', headers: signed.headers, body });
    const answer = await service.handle(request, { address: '127.0.0.1' });
    const text = await answer.text();
    return { status: answer.status, answer: text, event: signed.event, payload: signed.body.toString('utf8') };
  });
